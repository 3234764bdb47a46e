"""Who may I know: the lists, who is never listed, and the reasons."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from privact import ContactRecommender, PrivaCT
from privact.errors import InputError, NotFittedError, UnknownUserError
from privact.network.graph import ContactGraph
from privact.recommend.cores import CELLS
from privact.simulate.known_graphs import make_cliques

SIZES = [30, 30, 30]
LABELS = np.repeat(np.arange(3), 30)


@pytest.fixture(scope="module")
def model() -> PrivaCT:
    return PrivaCT(2.0, bins=LABELS, profile="shares+own", random_state=3).fit(make_cliques(SIZES).graph)


@pytest.fixture(scope="module")
def people(model: PrivaCT) -> ContactRecommender:
    return ContactRecommender(model.tree_).fit(model.rounds_)


def test_users_of_the_own_group_come_first(people: ContactRecommender) -> None:
    found = people.recommend(40, 29)
    assert [each.rank for each in found] == list(range(1, 30))
    assert {each.user for each in found} == set(range(30, 60)) - {40}
    assert {each.reason for each in found} <= {
        "in your close community, and many in your circle are in the same group",
        "many in your circle are in the same group",
    }


def test_a_sequence_of_users_has_a_list_each(people: ContactRecommender) -> None:
    assert people.recommend([0, 40], 3) == [people.recommend(0, 3), people.recommend(40, 3)]


def test_lists_hold_no_number_but_the_rank(people: ContactRecommender) -> None:
    for each in people.recommend(7, 89):
        assert not any(letter.isdigit() for letter in each.reason)
        assert set(each._fields) == {"rank", "user", "reason"}


def test_who_is_not_discoverable_is_listed_to_nobody_and_still_served(model: PrivaCT) -> None:
    discoverable = np.ones(90, dtype=bool)
    discoverable[[31, 32]] = False
    people = ContactRecommender(model.tree_, discoverable=discoverable).fit(model.rounds_)
    everybody = people.rank(np.arange(90), 89)
    assert not np.isin(everybody, [31, 32]).any()
    assert len(people.recommend(40, 89)) == 87
    assert len(people.recommend(31, 5)) == 5


def test_known_contacts_are_left_out(people: ContactRecommender) -> None:
    known = list(range(30, 59))
    assert people.recommend(40, 1, leave_out=known)[0].user == 59
    matrix = csr_array((np.ones(29), (np.full(29, 40), np.arange(30, 59))), shape=(90, 90))
    assert people.rank(np.array([40]), 1, matrix).tolist() == [[59]]


def test_without_groups_the_best_connected_come_first() -> None:
    star = ContactGraph.from_edges([(0, other) for other in range(1, 40)] + [(1, other) for other in range(2, 30)])
    model = PrivaCT(None, n_bins=1, random_state=0).fit(star)
    found = ContactRecommender(model.tree_).fit(model.rounds_).recommend(35, 2)
    assert [each.user for each in found] == [0, 1]
    assert found[0].reason == "knows many people here"


def test_a_series_finds_communities_without_labels() -> None:
    planted = make_cliques([60, 60, 60, 60]).graph
    model = PrivaCT(8.0, rounds=3, random_state=2).fit(planted)
    assert model.sees_communities_
    listed = ContactRecommender(model.tree_).fit(model.rounds_).rank(np.arange(240), 20)
    assert (listed // 60 == (np.arange(240) // 60)[:, None]).mean() > 0.9


def test_blocks_of_users_are_bounded_and_change_nothing(people: ContactRecommender, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = people.rank(np.arange(90), 10)
    largest = 0

    def watch(rows: np.ndarray) -> np.ndarray:
        nonlocal largest
        largest = max(largest, len(rows) * 90)
        return scores(rows)

    scores = people.affinity.scores
    monkeypatch.setattr(type(people.affinity), "scores", lambda _, rows: watch(rows))
    monkeypatch.setattr("privact.recommend.cores.CELLS", 900)
    assert (people.rank(np.arange(90), 10) == whole).all()
    assert 0 < largest <= 900 < CELLS


def test_what_cannot_be_is_refused(model: PrivaCT) -> None:
    with pytest.raises(NotFittedError, match="call fit"):
        ContactRecommender(model.tree_).recommend(1)
    with pytest.raises(InputError, match="at least one"):
        ContactRecommender(model.tree_).fit([])
    with pytest.raises(InputError, match="90 users"):
        ContactRecommender(model.tree_, discoverable=[True])
    with pytest.raises(InputError, match="a row for each leaf"):
        ContactRecommender(model.tree_).fit([model.rounds_[0]._replace(reports=model.reports_[:5])])
    with pytest.raises(UnknownUserError):
        ContactRecommender(model.tree_).fit(model.rounds_).recommend("nobody")
