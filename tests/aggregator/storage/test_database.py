"""The store on SQLite and on a real PostgreSQL: durable, one writer at a time, one line for what it cannot use."""

from __future__ import annotations

import threading

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import insert, inspect, select, text
from sqlalchemy.exc import IntegrityError

from privact.aggregator.storage.database import Store
from privact.aggregator.storage.migrations import is_current
from privact.aggregator.storage.schema import metadata, operators, rounds, users
from privact.errors import InputError

ADA = {"digest": bytes(16), "id": "ada", "token_sha256": bytes(32), "enrolled": 1, "serial": 1}


@pytest.fixture
def store(database_url):
    store = Store.open(database_url)
    yield store
    store.close()


def test_the_migrations_make_the_tables_of_the_schema(store):
    with store.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
        assert is_current(connection)
        checks = {check["name"] for check in inspect(connection).get_check_constraints("rounds")}
    assert checks == {"ck_rounds_state"}


def test_opening_twice_changes_nothing(store, database_url):
    with store.write() as connection:
        connection.execute(insert(users).values(ADA))
    again = Store.open(database_url)
    with again.read() as connection:
        assert connection.execute(select(users.c.id)).scalars().all() == ["ada"]
    again.close()


def test_a_database_of_a_newer_version_is_refused_in_one_line_and_left_alone(store, database_url):
    with store.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(InputError, match="revision 9999, which this privact does not know: update privact"):
        Store.open(database_url)
    with store.read() as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one() == "9999"
        assert not is_current(connection)


def test_a_block_that_fails_leaves_nothing(store):
    def fail():
        with store.write() as connection:
            connection.execute(insert(users).values(ADA))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with store.read() as connection:
        assert connection.execute(select(users)).all() == []


def test_commits_are_flushed_to_disk(store):
    with store.write() as connection:
        if store.is_sqlite:
            assert connection.execute(text("PRAGMA journal_mode")).scalar_one() == "wal"
            assert connection.execute(text("PRAGMA synchronous")).scalar_one() == 2  # FULL: every commit
        else:
            assert connection.execute(text("SHOW synchronous_commit")).scalar_one() == "on"
            assert connection.execute(text("SHOW fsync")).scalar_one() == "on"


def test_a_postgresql_that_would_not_flush_by_default_is_told_to(postgres_url):
    careless = Store(postgres_url.replace("options=", "options=-csynchronous_commit%3Doff%20"))
    with careless.read() as connection:
        assert connection.execute(text("SHOW synchronous_commit")).scalar_one() == "on"
    careless.close()


def test_connections_that_postgresql_has_cut_off_are_replaced(postgres_url):
    import psycopg

    store = Store.open(postgres_url)
    with store.read() as connection:
        process = connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
    with psycopg.connect(postgres_url, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 10000)", [process])
    with store.write() as connection:
        connection.execute(insert(users).values(ADA))
    store.close()


def test_the_tables_refuse_what_the_code_should_never_write(store):
    row = {"id": "spring", "settings": "{}", "created": 1, "search_seed": 0, "profile": "counts"}
    with pytest.raises(IntegrityError), store.write() as connection:
        connection.execute(insert(rounds).values(row | {"state": "half open"}))
    with pytest.raises(IntegrityError), store.write() as connection:
        connection.execute(
            insert(operators).values([{"name": "night", "token_sha256": bytes(32), "scopes": "read", "created": 1}] * 2)
        )


def test_threads_that_count_one_at_a_time_never_meet(store):
    def enrol(number: int) -> None:
        with store.write() as connection:
            store.one_at_a_time(connection)
            serial = len(connection.execute(select(users)).all()) + 1  # two who read the same would collide
            connection.execute(insert(users).values(ADA | {"digest": bytes([number] * 16), "id": str(number), "serial": serial}))

    threads = [threading.Thread(target=enrol, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with store.read() as connection:
        assert sorted(connection.execute(select(users.c.serial)).scalars()) == list(range(1, 13))


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("no url", "is no URL: give sqlite:///FILE or postgresql://"),
        ("mysql://host/name", "mysql is not supported"),
        ("sqlite://", "must be a file"),
        ("sqlite:///:memory:", "must be a file"),
        ("sqlite:///file.db?mode=memory", "must be a file"),
        ("sqlite:////nowhere/at/all/privact.sqlite3", "there is no folder /nowhere/at/all: make it first"),
    ],
)
def test_a_url_that_cannot_be_used_is_refused_in_one_line(url, message):
    with pytest.raises(InputError, match=message):
        Store(url)


def test_a_file_that_is_no_database_is_refused_in_one_line(tmp_path):
    (tmp_path / "notes.txt").write_text("not a database\n" * 1000)
    with pytest.raises(InputError, match=r"cannot use database .*notes\.txt: file is not a database"):
        Store.open(f"sqlite:///{tmp_path / 'notes.txt'}")


def test_a_postgresql_that_is_not_there_is_refused_in_one_line_without_the_password(tmp_path):
    with pytest.raises(InputError) as refused:
        Store.open(f"postgresql://ada:secret@/name?host={tmp_path}")
    assert "cannot use database" in str(refused.value)
    assert "secret" not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_errors_of_the_database_do_not_tell_values(store):
    with store.write() as connection:
        connection.execute(insert(users).values(ADA))
    with pytest.raises(IntegrityError) as failed, store.write() as connection:
        connection.execute(insert(users).values(ADA | {"token_sha256": b"never show this"}))
    assert "never show this" not in str(failed.value)
