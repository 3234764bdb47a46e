"""Where datasets come from, and that the copies which the published numbers were measured with are the pinned ones."""

from __future__ import annotations

import re
from types import MappingProxyType

import pytest

from privact.errors import InputError
from privact.network.datasets import TABLE_1
from privact.network.fetch import check_files
from privact.network.sources import SOURCES, find_source


def test_there_is_a_source_for_every_dataset_and_no_other():
    assert isinstance(SOURCES, MappingProxyType)
    assert list(SOURCES) == list(TABLE_1)
    assert all(name == source.name for name, source in SOURCES.items())
    with pytest.raises(InputError, match="'myspace' is not one of lastfm, delicious, douban"):
        find_source("myspace")


@pytest.mark.parametrize("source", SOURCES.values(), ids=lambda source: source.name)
def test_a_source_is_encrypted_and_its_checksums_are_checksums(source):
    assert source.address is None or re.fullmatch(
        r"https://files\.grouplens\.org/\S+/" + re.escape(source.archive), source.address
    )
    stated = [source.archive_sha256] if source.archive_sha256 else []
    for checksum in [*stated, source.contacts_sha256, source.ratings_sha256]:
        assert re.fullmatch("[0-9a-f]{64}", checksum)


@pytest.mark.data
@pytest.mark.parametrize("source", SOURCES.values(), ids=lambda source: source.name)
def test_the_measured_copies_have_the_pinned_content(source, data_dir):
    assert check_files(source, data_dir)


def test_nothing_and_something_else_are_told_apart(tmp_path):
    assert check_files(find_source("lastfm"), tmp_path) is None
    (tmp_path / "lastfm").mkdir()
    (tmp_path / "lastfm" / "social.tsv.gz").write_bytes(b"")
    assert check_files(find_source("lastfm"), tmp_path) is False
