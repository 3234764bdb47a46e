from __future__ import annotations

import errno
import os

import pytest

from privact.errors import InputError
from privact.storage import write_whole


def test_a_file_appears_whole(tmp_path):
    target = tmp_path / "new.bin"
    with write_whole(target) as stream:
        stream.write(b"half ")
        stream.flush()
        assert not target.exists()
        stream.write(b"whole")
    assert target.read_bytes() == b"half whole"
    assert os.listdir(tmp_path) == ["new.bin"]


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit, RuntimeError])
def test_an_interruption_leaves_the_old_file_and_nothing_else(tmp_path, interruption):
    target = tmp_path / "old.bin"
    target.write_bytes(b"old")

    def write_and_stop():
        with write_whole(target) as stream:
            stream.write(b"new")
            raise interruption

    with pytest.raises(interruption):
        write_and_stop()
    assert target.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["old.bin"]


def test_an_interruption_at_the_last_moment(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt), write_whole(tmp_path / "x") as stream:
        stream.write(b"new")
    assert os.listdir(tmp_path) == []


def test_a_full_disk_is_one_line(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match=r"cannot write .*/x: no space left on device"), write_whole(tmp_path / "x") as stream:
        stream.write(b"new")
    assert os.listdir(tmp_path) == []


def test_places_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    for path in (tmp_path, tmp_path / "missing" / "x", tmp_path / "file" / "x"):
        with pytest.raises(InputError, match="cannot write"), write_whole(path):
            pass


def test_a_link_keeps_pointing_at_its_file(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    with write_whole(tmp_path / "link") as stream:
        stream.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_others_may_read_it_as_the_mask_allows(tmp_path):
    before = os.umask(0o022)
    try:
        with write_whole(tmp_path / "x") as stream:
            stream.write(b"public")
    finally:
        os.umask(before)
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o644
