from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from privact.errors import InputError
from privact.network.datasets import TABLE_1, load_dataset


def put(folder: Path, name: str, text: str) -> None:
    (folder / "lastfm").mkdir(exist_ok=True)
    (folder / "lastfm" / name).write_bytes(gzip.compress(text.encode()))


@pytest.mark.data
@pytest.mark.parametrize("name", TABLE_1)
def test_sizes_are_those_of_table_1(name: str, data_dir: Path) -> None:
    dataset = load_dataset(name, data_dir)
    assert (dataset.graph.n_users, dataset.graph.n_edges) == TABLE_1[name]
    assert (dataset.graph.dropped_duplicates, dataset.graph.dropped_self_loops) == (0, 0)
    assert dataset.graph.degrees.min() == 1
    assert dataset.ratings is not None


def test_the_largest_component_is_read_from_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "social.tsv.gz", "user\tfriend\n1\t2\n8\t9\n2\t3\n")
    dataset = load_dataset("lastfm", tmp_path)
    assert (dataset.name, dataset.graph.users, dataset.ratings) == ("lastfm", ("1", "2", "3"), None)
    put(tmp_path, "ratings.tsv.gz", "user\titem\trating\n1\t7\t12\n")
    monkeypatch.setenv("PRIVACT_DATA", str(tmp_path))
    assert load_dataset("lastfm").ratings == tmp_path / "lastfm" / "ratings.tsv.gz"


def test_a_missing_file_says_what_to_put_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError) as missing:
        load_dataset("douban", tmp_path)
    assert str(tmp_path / "douban" / "social.tsv.gz") in str(missing.value)
    monkeypatch.delenv("PRIVACT_DATA", raising=False)
    with pytest.raises(InputError, match=r"--data DIR or set PRIVACT_DATA.*privact data get douban") as unset:
        load_dataset("douban")
    with pytest.raises(InputError, match="'myspace' is not one of lastfm, delicious, douban") as unknown:
        load_dataset("myspace", tmp_path)
    assert all("\n" not in str(caught.value) for caught in (missing, unset, unknown))
