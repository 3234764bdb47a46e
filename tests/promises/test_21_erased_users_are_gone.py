"""Promise 21: who is erased is in no table and in no file; the released tree keeps a leaf without a name.

What has to wait, a label that an open round fixes and a tree that is being learned, goes by itself when the round allows it.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import delete, insert, select, update

from privact.aggregator.domain.access.operators import record_action
from privact.aggregator.domain.enrolment import enrol
from privact.aggregator.domain.erasure.erased_names import ERASED
from privact.aggregator.domain.erasure.retention import purge
from privact.aggregator.domain.erasure.user_erasure import erase_user, finish_erasures
from privact.aggregator.domain.leaf_reports import fill_gaps, tabulate_by_leaf
from privact.aggregator.domain.release import joined_folder, record_release, release_path, sha256_of
from privact.aggregator.domain.series.running_series import create_series, open_next
from privact.aggregator.http.app import create_app
from privact.aggregator.jobs.joiner_jobs import JoinerJobs
from privact.aggregator.jobs.learning_jobs import LearningJobs
from privact.aggregator.jobs.process import Workers
from privact.aggregator.settings import Settings
from privact.aggregator.storage.database import Store
from privact.aggregator.storage.schema import label_tables, metadata, releases, reports, rounds, users
from privact.aggregator.storage.stored_reports import read_round
from privact.errors import UnknownUserError
from privact.protocol.labels import LabelTable
from privact.protocol.report import Report
from privact.protocol.round import Round
from privact.protocol.signing import new_signing_key
from privact.protocol.users import user_digest
from privact.tree.hct import HierarchicalClusterTree

OPERATOR = "operator." + "o" * 43
SPRING = Round(id="spring", epsilon=4.0, n_bins=2, n_users=6, seed=bytes(32), opens=1, closes=1000)
NAMES = sorted((f"user{number}@a.example" for number in range(6)), key=user_digest)


def save_tree(path: Path, round: Round) -> None:
    parameters = {"round": "spring", "round_digest": round.digest().hex(), "n_reports": 6}
    HierarchicalClusterTree.from_children([0, 2, 4, 6, 8], [1, 3, 5, 7, 9], NAMES, parameters).save(path)


@pytest.fixture
def released(database_url: str, tmp_path: Path) -> Iterator[tuple[Store, Settings]]:
    """A released round of six users, on both databases."""
    folder = tmp_path / "data"
    folder.mkdir()
    settings = Settings(data_folder=folder, database=database_url, minimum_users=2, operator_token=OPERATOR)
    store = Store.open(database_url)
    with store.write() as connection:
        for serial, name in enumerate(NAMES, 1):
            row = {"digest": user_digest(name), "id": name, "token_sha256": bytes(32), "enrolled": 1, "serial": serial}
            connection.execute(insert(users).values(row))
        learning = {
            "id": "spring", "state": "learning",
            "settings": '{"epsilon": 4.0, "n_bins": 2, "bins": "random", "joiner_seconds": 0}',
            "parameters": SPRING.to_bytes(), "digest": SPRING.digest(), "n_users": 6, "last_serial": 6, "opens": 1,
            "closes": 1000, "joiners_until": 1000, "n_reports": 6, "created": 1, "opened": 1, "closed": 1000,
            "search_seed": 7, "profile": "counts",
        }  # fmt: skip
        connection.execute(insert(rounds).values(learning))
        for number, name in enumerate(NAMES):
            report = Report.bind(SPRING, name, [number, 6 - number])
            row = {"round_id": "spring", "user": report.user, "bytes": report.to_bytes(), "received": 5, "late": False}
            connection.execute(insert(reports).values(row))
    settings.releases_folder.mkdir()
    path = release_path(settings.releases_folder, "spring")
    save_tree(path, SPRING)
    record_release(store, "spring", sha256_of(path), 6)
    yield store, settings
    store.close()


def everything(store: Store, settings: Settings) -> bytes:
    """All rows of all tables and all files of the data folder."""
    rows: list[Any] = []
    with store.read() as connection:
        for table in metadata.sorted_tables:
            rows += [tuple(row) for row in connection.execute(select(table))]
    files = [path.read_bytes() for path in settings.data_folder.rglob("*") if path.is_file() and "sqlite3" not in path.name]
    return repr(rows).encode() + b"".join(files)


def test_nothing_of_an_erased_user_is_left_but_a_leaf(released: tuple[Store, Settings]) -> None:
    store, settings = released
    gone, path = NAMES[2], release_path(settings.releases_folder, "spring")
    before = HierarchicalClusterTree.load(path)
    assert gone.encode() in everything(store, settings)
    erase_user(store, settings, gone.upper())
    left = everything(store, settings)
    assert gone.encode() not in left
    assert repr(user_digest(gone)).encode() not in left
    after = HierarchicalClusterTree.load(path)
    assert after.left.tolist() == before.left.tolist()
    assert after.users is not None
    assert [user.startswith(ERASED) for user in after.users] == [name == gone for name in NAMES]
    with store.read() as connection:
        assert connection.execute(select(releases.c.digest)).scalar_one() == sha256_of(path)
        assert connection.execute(select(rounds.c.n_reports)).scalar_one() == 5
    with pytest.raises(UnknownUserError):
        erase_user(store, settings, gone)


def test_a_file_of_sqlite_holds_nothing_of_an_erased_user(released: tuple[Store, Settings]) -> None:
    store, settings = released
    if not store.is_sqlite:
        pytest.skip("PostgreSQL reuses the space by VACUUM")
    erase_user(store, settings, NAMES[2])
    with store.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    assert NAMES[2].encode() not in Path(str(store.url.database)).read_bytes()


def test_joiners_can_still_be_placed(released: tuple[Store, Settings]) -> None:
    store, settings = released
    erase_user(store, settings, NAMES[2])
    tree = HierarchicalClusterTree.load(release_path(settings.releases_folder, "spring"))
    table, told = tabulate_by_leaf(settings.database_url, read_round(settings.database_url, "spring"), tree, settings.data_folder)
    fill_gaps(tree, table, told)
    expected = [[number, 6 - number] for number in range(6)]
    expected[2] = expected[3]  # the next user in the tree's own order
    assert table.tolist() == expected


def test_the_operator_erases_over_http_and_the_tree_names_nobody(released: tuple[Store, Settings]) -> None:
    settings = released[1]
    headers = {"Authorization": f"Bearer {OPERATOR}"}
    with TestClient(create_app(settings)) as client:
        assert client.get(f"/v1/rounds/spring/tree/path?user={NAMES[2]}").status_code == 200
        assert client.delete(f"/v1/users/{NAMES[2]}?erase=true", headers=headers).status_code == 204
        assert client.get(f"/v1/rounds/spring/tree/path?user={NAMES[2]}").status_code == 404
        assert client.get(f"/v1/rounds/spring/tree/path?user={NAMES[3]}").status_code == 200
        assert NAMES[2].encode() not in client.get("/v1/rounds/spring/tree/download").content
        assert client.delete(f"/v1/users/{NAMES[2]}?erase=true", headers=headers).status_code == 404
        actions = client.get("/v1/operators/actions", headers=headers).json()["actions"]
        assert {action["subject"] for action in actions} == {"(erased)"}
    assert NAMES[2].encode() not in everything(*released)


def test_the_record_of_operators_forgets_every_spelling_of_an_erased_user(released: tuple[Store, Settings]) -> None:
    store, settings = released
    for spelled in (NAMES[2], f"@{NAMES[2].upper()}", NAMES[1]):
        record_action(store, 1, "night", "POST /v1/users/token", spelled, 200)
    erase_user(store, settings, NAMES[2])
    left = everything(store, settings)
    assert NAMES[2].encode() not in left.lower()
    assert NAMES[1].encode() in left


def test_retention_erases_old_reports_and_removed_users(released: tuple[Store, Settings]) -> None:
    store, settings = released
    day, keeping = 86_400, settings.model_copy(update={"retention_days": 30})
    with store.write() as connection:
        connection.execute(update(rounds).values(released=1000))
        connection.execute(update(users).where(users.c.id == NAMES[0]).values(removed=1000))
    assert purge(store, settings, 1000 + 400 * day) == (0, [])  # kept forever by default
    assert purge(store, keeping, 1000 + 29 * day) == (0, [])
    assert purge(store, keeping, 1000 + 31 * day) == (6, [NAMES[0]])
    left = everything(store, settings)
    assert NAMES[0].encode() not in left
    assert NAMES[1].encode() in left  # is still enrolled
    with store.read() as connection:
        assert connection.execute(select(reports)).all() == []


def test_a_round_that_is_being_learned_is_released_without_the_name(released: tuple[Store, Settings]) -> None:
    store, settings = released
    path = release_path(settings.releases_folder, "spring")
    with store.write() as connection:
        connection.execute(delete(releases))
        connection.execute(update(rounds).values(state="learning"))
    assert erase_user(store, settings, NAMES[2]).waits_for == ["spring"]
    with store.read() as connection:
        assert len(connection.execute(select(reports)).all()) == 5  # at once
    assert finish_erasures(store, settings) == []
    jobs = LearningJobs(store, settings, Workers())
    jobs._release("spring", {"released": sha256_of(path).hex(), "n_users": 6})  # the process had read the report before
    assert NAMES[2].encode() not in path.read_bytes()
    with store.read() as connection:
        assert connection.execute(select(releases.c.digest)).scalar_one() == sha256_of(path)
    assert finish_erasures(store, settings) == [NAMES[2]]
    assert NAMES[2].encode() not in everything(store, settings)


def test_a_tree_with_joiners_that_was_written_meanwhile_forgets_the_name(released: tuple[Store, Settings]) -> None:
    store, settings = released
    older = release_path(settings.releases_folder, "spring").read_bytes()
    erase_user(store, settings, NAMES[2])
    jobs = JoinerJobs(store, settings, Workers())
    jobs.prepare()
    joined = release_path(joined_folder(settings.releases_folder), "spring")
    joined.write_bytes(older)  # by a process that had read the release before
    jobs.forget_users([NAMES[2]])
    jobs.waiting()
    assert NAMES[2].encode() not in everything(store, settings)


def test_ratings_of_an_erased_user_are_gone_and_others_stay(released: tuple[Store, Settings]) -> None:
    store, settings = released
    settings.ratings_folder.mkdir()
    rated = f'{NAMES[1]},"polka, slow",2.5\n{NAMES[2].upper()},waltz,1\n{NAMES[1]},waltz,4\n'
    (settings.ratings_folder / "ratings.csv").write_text("user,item,rating\n" + rated)
    erase_user(store, settings, NAMES[2])
    left = (settings.ratings_folder / "ratings.csv").read_text()
    assert left == f'user,item,rating\n{NAMES[1]},"polka, slow",2.5\n{NAMES[1]},waltz,4\n'
    erase_user(store, settings, NAMES[1])
    assert list(settings.ratings_folder.iterdir()) == []  # nobody else had rated


def test_who_is_only_in_the_ratings_can_be_erased(released: tuple[Store, Settings]) -> None:
    store, settings = released
    settings.ratings_folder.mkdir()
    (settings.ratings_folder / "ratings.csv").write_text(f"user,item,rating\nzoe@a.example,waltz,1\n{NAMES[1]},waltz,4\n")
    erase_user(store, settings, "zoe@a.example")
    assert b"zoe" not in everything(store, settings)


LABELLED = replace(
    SPRING, bins="labels", seed=b"", labels_digest=LabelTable.from_labels(dict.fromkeys(NAMES, 1), 2, key=bytes(16)).digest()
)


@pytest.fixture
def labelled(released: tuple[Store, Settings]) -> tuple[Store, Settings]:
    """The released round with labels as bins."""
    store, settings = released
    table = LabelTable.from_labels(dict.fromkeys(NAMES, 1), 2, key=bytes(16))
    path = release_path(settings.releases_folder, "spring")
    save_tree(path, LABELLED)
    with store.write() as connection:
        connection.execute(insert(label_tables).values(round_id="spring", bytes=table.to_bytes()))
        connection.execute(update(rounds).values(parameters=LABELLED.to_bytes(), digest=LABELLED.digest()))
        connection.execute(update(releases).values(digest=sha256_of(path)))
    return store, settings


def read_labels(store: Store) -> list[int]:
    with store.read() as connection:
        return LabelTable.from_bytes(connection.execute(select(label_tables.c.bytes)).scalar_one()).labels_of(NAMES).tolist()


def test_labels_of_an_erased_user_go_by_themselves_once_the_round_takes_no_more_reports(labelled: tuple[Store, Settings]) -> None:
    store, settings = labelled
    with store.write() as connection:
        connection.execute(update(rounds).values(state="open"))
    assert erase_user(store, settings, NAMES[2]).waits_for == ["spring"]
    assert read_labels(store) == [1] * 6  # devices still compare the table with the digest of the round
    with store.read() as connection:
        assert len(connection.execute(select(users)).all()) == len(connection.execute(select(reports)).all()) == 5
    assert finish_erasures(store, settings) == []
    with store.write() as connection:
        connection.execute(update(rounds).values(state="released", released=1000, joiners_until=1000))
    assert finish_erasures(store, settings) == [NAMES[2]]
    assert read_labels(store) == [1, 1, -1, 1, 1, 1]
    assert NAMES[2].encode() not in everything(store, settings)
    assert finish_erasures(store, settings) == []
    with pytest.raises(UnknownUserError):
        erase_user(store, settings, NAMES[2])


def test_a_running_server_finishes_an_erasure_and_its_tree_stays_readable(
    labelled: tuple[Store, Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, settings = labelled
    headers = {"Authorization": f"Bearer {OPERATOR}"}
    monkeypatch.setattr("privact.aggregator.http.app._ERASE_SECONDS", 0.01)
    with store.write() as connection:
        connection.execute(update(rounds).values(joiners_until=2**40))  # late joiners still need the labels
    with TestClient(create_app(settings)) as client:
        left = client.delete(f"/v1/users/{NAMES[2]}?erase=true", headers=headers)
        assert (left.status_code, left.json()) == (202, {"user": NAMES[2], "waits_for": ["spring"]})
        assert hashlib.blake2b(client.get("/v1/rounds/spring/labels").content, digest_size=32).digest() == LABELLED.labels_digest
        assert client.get(f"/v1/rounds/spring/tree/path?user={NAMES[2]}").status_code == 404
        with store.write() as connection:
            connection.execute(update(rounds).values(joiners_until=1000))
        for _ in range(1000):
            if read_labels(store)[2] == -1:
                break
            time.sleep(0.01)
        assert read_labels(store) == [1, 1, -1, 1, 1, 1]
        assert client.get(f"/v1/rounds/spring/tree/path?user={NAMES[3]}").status_code == 200
    with TestClient(create_app(settings)) as client:  # the tree is opened again, with the shorter table of labels
        assert client.get(f"/v1/rounds/spring/tree/path?user={NAMES[3]}").status_code == 200
    assert NAMES[2].encode() not in everything(store, settings)


def test_who_is_enrolled_again_is_not_erased_by_what_waited(labelled: tuple[Store, Settings]) -> None:
    store, settings = labelled
    with store.write() as connection:
        connection.execute(update(rounds).values(state="open"))
    erase_user(store, settings, NAMES[-1])
    enrol(store, [NAMES[-1].upper()], 2000)
    with store.write() as connection:
        serial = connection.execute(select(users.c.serial).where(users.c.id == NAMES[-1])).scalar_one()
        connection.execute(update(rounds).values(state="released", released=1000, joiners_until=1000))
    assert serial == 7  # a joiner to rounds that were opened before: nobody gets the serial of somebody erased
    assert finish_erasures(store, settings) == []
    assert read_labels(store) == [1] * 6


def test_a_series_opens_its_next_round_without_who_was_erased_meanwhile(released: tuple[Store, Settings]) -> None:
    store, settings = released
    wish = {
        "name": "weekly", "epsilon": 4.0, "rounds": 2, "every_seconds": 3600, "n_bins": 2, "bins": "random",
        "joiner_seconds": 0, "search_seed": 0, "visibility": "public",
    }  # fmt: skip
    create_series(store, wish, 1000)
    first = replace(SPRING, id="weekly.1", seed=b"1" * 32)
    report = Report.bind(first, NAMES[2], [1, 1])
    with store.write() as connection:
        learning = {"state": "learning", "closed": 1000, "lease_holder": "one", "parameters": first.to_bytes()}
        connection.execute(update(rounds).where(rounds.c.id == "weekly.1").values(learning))
        row = {"round_id": "weekly.1", "user": report.user, "bytes": report.to_bytes(), "received": 5, "late": False}
        connection.execute(insert(reports).values(row))
    assert erase_user(store, settings, NAMES[2]).waits_for == ["weekly.1"]
    groups = LabelTable.from_labels(dict.fromkeys(NAMES, 1), 2, key=bytes(16))  # by a process that had read the report
    assert open_next(store, "weekly.1", "one", new_signing_key(), {}, groups, 2000) == "weekly.2"
    assert read_labels(store) == [1, 1, -1, 1, 1, 1]
    assert finish_erasures(store, settings) == [NAMES[2]]
    assert NAMES[2].encode() not in everything(store, settings)
