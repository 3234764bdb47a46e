"""Reports come out of the database as they went in, ordered by user digest, in batches."""

from __future__ import annotations

import numpy as np
import pytest
from sqlalchemy import update

from privact.aggregator.storage import schema
from privact.aggregator.storage.stored_reports import read_all, read_reports, read_round
from privact.errors import FileFormatError, InputError
from privact.protocol.users import user_digest


def test_batches_hold_every_report_once_in_the_order_of_digests(stored_reports):
    url = stored_reports(order=range(119, -1, -1)).settings.database_url
    batches = list(read_reports(url, "spring", batch=50))
    assert [len(users) for users, _ in batches] == [50, 50, 20]
    users = [user for some, _ in batches for user in some]
    assert sorted(users, key=user_digest) == users
    assert len(set(users)) == 120
    for user, vector in zip(users, np.concatenate([vectors for _, vectors in batches]), strict=True):
        assert (np.abs(vector - (40 if user.endswith("@many.example") else 2)) <= 1).all()
    assert batches[0][1].dtype == np.int32


def test_the_order_of_arrival_does_not_show(stored_reports):
    one = read_all(stored_reports("one").settings.database_url, "spring")
    other = read_all(stored_reports("other", order=range(119, -1, -1)).settings.database_url, "spring")
    assert one[0] == other[0]
    assert np.array_equal(one[1], other[1])


def test_entries_keep_their_sign_and_size(stored_reports):
    stored = stored_reports()
    stored.join_late({"zoe@late.example": [-(2**31), 2**31 - 1, -7]})
    users, vectors = read_all(stored.settings.database_url, "spring", late=True)
    assert users == ["zoe@late.example"]
    assert vectors.tolist() == [[-(2**31), 2**31 - 1, -7]]
    assert "zoe@late.example" not in read_all(stored.settings.database_url, "spring")[0]


def test_a_round_without_late_reports_gives_an_empty_table(stored_reports):
    users, vectors = read_all(stored_reports().settings.database_url, "spring", late=True)
    assert users == []
    assert vectors.shape == (0, 3)


def test_progress_counts_reports(stored_reports):
    told = []
    read_all(stored_reports().settings.database_url, "spring", progress=lambda *what: told.append(what))
    assert told[-1] == ("reading reports", 120, 120)


def test_what_learning_needs_to_know_of_a_round(stored_reports):
    stored = read_round(stored_reports().settings.database_url, "spring")
    assert (stored.round.id, stored.round.n_bins, stored.profile, stored.search_seed) == ("spring", 3, "counts", 7)
    assert (stored.n_reports, stored.n_joiners) == (120, 0)


def test_an_iterator_that_is_left_early_lets_go_of_the_database(stored_reports):
    stored = stored_reports()
    batches = read_reports(stored.settings.database_url, "spring", batch=10)
    next(batches)
    batches.close()
    with stored.store.write() as connection:
        connection.execute(update(schema.rounds).values(state="learning"))
    assert stored.row.state == "learning"


def test_what_is_not_there_is_refused_and_not_made(stored_reports, tmp_path):
    stored = stored_reports()
    with pytest.raises(InputError, match="no round 'winter'"):
        read_round(stored.settings.database_url, "winter")
    with pytest.raises(InputError, match="there is no database"):
        read_round(f"sqlite:///{tmp_path / 'typo.sqlite3'}", "spring")
    assert not (tmp_path / "typo.sqlite3").exists()
    (tmp_path / "empty.sqlite3").touch()
    with pytest.raises(InputError, match="cannot read rounds"):
        next(read_reports(f"sqlite:///{tmp_path / 'empty.sqlite3'}", "spring"))
    with pytest.raises(InputError, match="batch = 0"):
        next(read_reports(stored.settings.database_url, "spring", batch=0))


def test_a_draft_and_a_damaged_report_are_refused(stored_reports):
    stored = stored_reports()
    with stored.store.write() as connection:
        connection.execute(
            update(schema.reports).where(schema.reports.c.user == user_digest("user3@many.example")).values(bytes=b"PC")
        )
    with pytest.raises(FileFormatError, match="2 bytes, not the 69"):
        read_all(stored.settings.database_url, "spring")
    with stored.store.write() as connection:
        connection.execute(update(schema.rounds).values(state="draft", parameters=None, digest=None))
    with pytest.raises(InputError, match="never opened"):
        read_round(stored.settings.database_url, "spring")
