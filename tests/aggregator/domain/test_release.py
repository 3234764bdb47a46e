"""The released file: what is in it, that it depends on reports and seed alone, and the step from learning to released."""

from __future__ import annotations

import numpy as np
import pytest
from sqlalchemy import select, update

from privact.aggregator.domain.release import (
    count_joiners_in,
    fail_round,
    public_parameters,
    record_release,
    release_path,
    sha256_of,
)
from privact.aggregator.domain.round_evidence import stored_reports as reports_of
from privact.aggregator.jobs.learning import learn_stored_round, read_stored_table
from privact.aggregator.storage import schema
from privact.aggregator.storage.stored_reports import read_all, read_round
from privact.audit.leakage import PUBLIC_PARAMETERS, inspect_release
from privact.learn.search.learn_tree import LearnedTree
from privact.protocol.round import Round
from privact.tree.hct import HierarchicalClusterTree


def learned(stored, path):
    """Learn a stored round in this process and write its release."""
    url = stored.settings.database_url
    round = read_round(url, "spring")
    learn_stored_round(url, round, read_stored_table(url, round, path.with_suffix(".table"))).tree.save(path)
    return path


def test_a_release_holds_what_the_list_names_and_nothing_else(stored_reports, tmp_path):
    fields = inspect_release(learned(stored_reports(order=range(100)), tmp_path / "tree.hct"))
    assert [field for field in fields if not field.allowed] == []
    assert {field.kind for field in fields} == {"format", "tree", "parameter", "users"}


def test_parameters_are_the_rounds_own_and_follow_from_it(stored_reports):
    stored = read_round(stored_reports(order=range(100)).settings.database_url, "spring")
    parameters = public_parameters(stored)
    assert set(parameters) <= set(PUBLIC_PARAMETERS)
    assert Round(
        id=parameters["round"], epsilon=parameters["epsilon"], n_bins=parameters["n_bins"], n_users=parameters["n_users"],
        seed=bytes.fromhex(parameters["bins_seed"]), opens=parameters["opens"], closes=parameters["closes"],
        joiner_seconds=parameters["joiner_seconds"],
    ).digest().hex() == parameters["round_digest"]  # fmt: skip
    assert (parameters["n_reports"], parameters["search_seed"]) == (100, 7)
    labels = Round(id="spring", epsilon=1.0, n_bins=3, n_users=120, bins="labels", labels_digest=bytes(32))
    of_labels = public_parameters(stored._replace(round=labels))
    assert of_labels["labels_digest"] == "00" * 32
    assert "bins_seed" not in of_labels


def test_the_seed_of_the_round_decides_the_search(stored_reports, monkeypatch, tmp_path):
    stored, given = stored_reports(), {}

    def search(population, **arguments):
        given.update(arguments)
        return LearnedTree(HierarchicalClusterTree.from_nested((0, 1)), np.zeros(1))

    monkeypatch.setattr("privact.learn.pipeline.learn_tree", search)
    learned(stored, tmp_path / "tree.hct")
    assert (given["random_state"], given["search"]) == (7, "linkage+gentree")


def test_the_same_reports_are_the_same_bytes_and_other_reports_are_not(stored_reports, tmp_path):
    one, fewer = stored_reports("one"), stored_reports("fewer", order=range(1, 120))
    assert learned(one, tmp_path / "a.hct").read_bytes() == learned(one, tmp_path / "b.hct").read_bytes()
    assert learned(fewer, tmp_path / "c.hct").read_bytes() != (tmp_path / "a.hct").read_bytes()


@pytest.mark.parametrize(("profile", "by_group"), [("shares", True), ("counts", False)])
def test_a_round_compares_users_by_the_profile_it_names(stored_reports, profile, by_group):
    url = stored_reports().settings.database_url
    stored, (users, _) = read_round(url, "spring"), read_all(url, "spring")
    group = np.arange(120) // 2 % 3
    contacts = np.where(np.arange(120) % 2, 12, 48)  # the few of one group are nearer to the few of another than to the many
    reports = (np.eye(3)[group] * contacts[:, None]).astype(np.int32)
    tree = learn_stored_round(url, stored._replace(profile=profile), reports_of(url, stored, users, reports).table).tree
    near = [group[[users.index(other) for other, _ in tree.nearest(user, 39)]] for user in users]
    assert all(set(theirs) == {mine} for theirs, mine in zip(near, group, strict=True)) == by_group
    assert tree.parameters["profile"] == profile


@pytest.mark.parametrize("hostile", [2**31 - 1, -(2**31)])
def test_an_absurd_report_is_clamped_and_does_not_move_the_others(stored_reports, hostile):
    stored = stored_reports()
    url = stored.settings.database_url
    round, (users, reports) = read_round(url, "spring"), read_all(url, "spring")
    attacked = reports.copy()
    attacked[0] = hostile
    table = reports_of(url, round, users, attacked).table
    rows = table.matrix
    assert np.abs(rows).max() < 120 + 40  # 119 contacts, and noise beyond 40 at epsilon 2 has a chance of e^-80
    assert np.array_equal(rows[1:], attacked[1:])
    tree = learn_stored_round(url, round, table).tree
    honest = [user for user in users[1:] if user.endswith("@many.example")]
    near = [user for user, _ in tree.nearest(honest[0], 30) if user != users[0]]
    assert np.mean([user.endswith("@many.example") for user in near]) > 0.95


def test_the_row_of_a_release_and_the_state_come_together_and_once(stored_reports):
    stored = stored_reports(order=range(5))
    assert not record_release(stored.store, "spring", bytes(32), 5)  # closed: nobody is learning it
    with stored.store.write() as connection:
        connection.execute(update(schema.rounds).values(state="learning", stage="polishing", done=3, total=4))
    assert record_release(stored.store, "spring", bytes(32), 5)
    assert (stored.row.state, stored.row.stage, stored.row.done) == ("released", None, 0)
    assert not record_release(stored.store, "spring", bytes(32), 5)
    assert not fail_round(stored.store, "spring", "too late")
    assert (stored.row.state, stored.row.failure) == ("released", None)
    with stored.store.read() as connection:
        assert len(connection.execute(select(schema.releases)).all()) == 1


@pytest.mark.parametrize("before", ["closed", "learning"])
def test_a_round_fails_from_either_state(stored_reports, before):
    stored = stored_reports(order=range(5))
    with stored.store.write() as connection:
        connection.execute(update(schema.rounds).values(state=before))
    assert fail_round(stored.store, "spring", "why")
    assert (stored.row.state, stored.row.failure) == ("failed", "why")


def test_a_file_tells_how_many_joined_late_and_of_which_round(stored_reports, tmp_path):
    stored = stored_reports(order=range(100))
    path = learned(stored, release_path(tmp_path, "spring"))
    assert path == tmp_path / "spring.hct"
    assert len(sha256_of(path)) == 32
    digest = stored.row.digest
    assert count_joiners_in(path, digest) == 0
    assert count_joiners_in(tmp_path / "other.hct", digest) == 0
    joined = tmp_path / "joined.hct"
    HierarchicalClusterTree.load(path).with_leaves([0], ["zoe@late.example"]).save(joined)
    assert count_joiners_in(joined, digest) == 1
    assert count_joiners_in(joined, bytes(32)) == 0
    path.write_bytes(path.read_bytes()[:-1])
    assert count_joiners_in(path, digest) == 0
