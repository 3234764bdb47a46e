"""make release-check finds what is missing in a wheel or an sdist, and what must not be there."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from release_check import IN_SDIST, IN_WHEEL, check_names

from .fences import ROOT


def wheel_of(names: list[str], folder: Path) -> Path:
    path = folder / "privact-0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return path


def sdist_of(names: list[str], folder: Path) -> Path:
    path = folder / "privact-0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(f"privact-0/{name}"), io.BytesIO())
    return path


def test_what_is_whole_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check_names(wheel_of(list(IN_WHEEL), tmp_path), sdist_of(list(IN_SDIST), tmp_path))
    assert f"{len(IN_WHEEL)} files in the wheel" in capsys.readouterr().out


@pytest.mark.parametrize("missing", IN_WHEEL)
def test_a_wheel_that_lacks_a_file_is_refused(missing: str, tmp_path: Path) -> None:
    names = [name for name in IN_WHEEL if name != missing]
    with pytest.raises(SystemExit, match=f"lacks {missing}"):
        check_names(wheel_of(names, tmp_path), sdist_of(list(IN_SDIST), tmp_path))


@pytest.mark.parametrize("foreign", ["tests/test_a.py", "privact/lastfm/social.tsv.gz", "privact/__pycache__/a.pyc", "docs/a.md"])
def test_a_wheel_with_tests_or_data_is_refused(foreign: str, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=f"holds {foreign}"):
        check_names(wheel_of([*IN_WHEEL, foreign], tmp_path), sdist_of(list(IN_SDIST), tmp_path))


def test_an_sdist_that_lacks_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=f"lacks {IN_SDIST[0]}"):
        check_names(wheel_of(list(IN_WHEEL), tmp_path), sdist_of(list(IN_SDIST[1:]), tmp_path))


def test_the_files_that_it_looks_for_are_in_the_repository() -> None:
    assert [name for name in IN_WHEEL if not (ROOT / "src" / name).is_file()] == []
    assert [name for name in IN_SDIST if not (ROOT / name).is_file()] == []
