"""Shared files: what one server puts into a PostgreSQL database, another one has; SQLite holds no files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import func, select

from privact.aggregator.storage import shared_files as module
from privact.aggregator.storage.database import Store
from privact.aggregator.storage.schema import shared_files, shared_parts
from privact.aggregator.storage.shared_files import SharedFiles, fetch_file, share_file


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    store = Store.open(database_url)
    yield store
    store.close()


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "here" / "releases").mkdir(parents=True)
    return tmp_path / "here"


@pytest.fixture
def there(tmp_path: Path) -> Path:
    (tmp_path / "there").mkdir()
    return tmp_path / "there"


def share(store: Store, folder: Path, name: str) -> None:
    with store.write() as connection:
        share_file(store, connection, folder, folder / name)


def test_a_file_comes_to_the_other_server_in_its_newest_version(
    store: Store, here: Path, there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PART", 1000)  # so that files have several parts
    files = SharedFiles(store, there)
    if store.is_sqlite:
        (here / "releases" / "spring.hct").write_bytes(b"tree")
        share(store, here, "releases/spring.hct")
        assert files.find_changed() == []
        assert not fetch_file(store, there, there / "releases" / "spring.hct")
        return
    for content in (b"a" * 5000, bytes(range(256)) * 20, b""):
        (here / "releases" / "spring.hct").write_bytes(content)
        share(store, here, "releases/spring.hct")
        assert files.find_changed() == [there / "releases" / "spring.hct"]
        assert fetch_file(store, there, there / "releases" / "spring.hct")
        assert (there / "releases" / "spring.hct").read_bytes() == content
        assert files.find_changed() == []
        assert not fetch_file(store, there, there / "releases" / "spring.hct")
    (there / "releases" / "spring.hct").write_bytes(b"damaged")
    assert files.find_changed() == [there / "releases" / "spring.hct"]


def test_a_deleted_file_is_deleted_everywhere_and_its_bytes_are_gone(store: Store, here: Path, there: Path) -> None:
    if store.is_sqlite:
        pytest.skip("SQLite is for one server")
    (here / "ratings.csv").write_bytes(b"user,item")
    (there / "ratings.csv").write_bytes(b"user,item")
    share(store, here, "ratings.csv")
    (here / "ratings.csv").unlink()
    share(store, here, "ratings.csv")
    assert fetch_file(store, there, there / "ratings.csv")
    assert not (there / "ratings.csv").exists()
    with store.read() as connection:
        assert connection.execute(select(func.count()).select_from(shared_parts)).scalar_one() == 0


def test_a_server_of_an_earlier_version_brings_its_files_and_overwrites_none(store: Store, here: Path, there: Path) -> None:
    if store.is_sqlite:
        pytest.skip("SQLite is for one server")
    for folder, content in ((here, b"old"), (there, b"older")):
        (folder / "ratings.csv").write_bytes(content)
        SharedFiles(store, folder).add_own([folder / "ratings.csv"])
    assert fetch_file(store, there, there / "ratings.csv")
    assert (there / "ratings.csv").read_bytes() == b"old"
    with store.read() as connection:
        assert connection.execute(select(shared_files.c.name)).scalars().all() == ["ratings.csv"]
