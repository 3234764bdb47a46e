"""A series of rounds finds planted communities, says so when there is nothing to find, and keeps what it learned."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from privact import ContactGraph, PrivaCT
from privact.errors import InputError
from privact.learn.evidence.evidence_file import read_evidence, write_evidence
from privact.learn.evidence.series_profile import SEES_NOTHING


def _planted(n_blocks: int, size: int, inside: float, across: float, seed: int) -> tuple[ContactGraph, np.ndarray]:
    rng = np.random.default_rng(seed)
    block = rng.permutation(np.repeat(np.arange(n_blocks), size))
    first, second = np.triu_indices(len(block), 1)
    there = rng.random(len(first)) < np.where(block[first] == block[second], inside, across)
    return ContactGraph.from_edges(np.column_stack([first[there], second[there]])), block


def _agreement(found: np.ndarray, truth: np.ndarray) -> float:
    """Share of users whose found group is mostly of their own block."""
    right = 0
    for group in np.unique(found):
        right += np.bincount(truth[found == group]).max()
    return right / len(truth)


@pytest.fixture(scope="module")
def blocks():
    return _planted(3, 80, 0.3, 0.01, seed=1)


@pytest.fixture(scope="module")
def model(blocks):
    return PrivaCT(epsilon=None, rounds=3, random_state=0).fit(blocks[0])


def test_without_noise_a_series_finds_the_blocks_and_how_many_they_are(model, blocks):
    graph, block = blocks
    truth = block[[int(user) for user in graph.users]]
    assert model.sees_communities_
    assert len(np.unique(model.groups_)) == 3
    assert _agreement(model.groups_, truth) > 0.95


def test_the_tree_has_contacts_near_users(model, blocks):
    from privact.query.quality import measure_contact_share

    one_round = PrivaCT(epsilon=None, random_state=0).fit(blocks[0])
    contacts = blocks[0].to_scipy()
    assert measure_contact_share(model.tree_, contacts) > 1.5 * measure_contact_share(one_round.tree_, contacts)


def test_rounds_share_epsilon_and_count_in_the_groups_before_them(blocks):
    model = PrivaCT(epsilon=6.0, rounds=3, random_state=2).fit(blocks[0])
    assert [played.epsilon for played in model.rounds_] == [2.0, 2.0, 2.0]
    assert model.tree_.parameters["rounds"] == 3
    assert model.tree_.parameters["epsilon"] == 6.0
    assert model.tree_.parameters["epsilon_report"] == 1.0
    assert model.tree_.parameters["profile"] == "series"
    assert all(played.reports.shape == (240, played.n_bins) for played in model.rounds_)


def test_a_network_without_communities_is_not_given_any():
    rng = np.random.default_rng(5)
    graph = ContactGraph.from_edges(rng.integers(0, 400, (4000, 2)))
    with pytest.warns(UserWarning, match="how many contacts users have, not who"):
        model = PrivaCT(epsilon=2.0, rounds=3, random_state=0).fit(graph)
    assert not model.sees_communities_
    assert SEES_NOTHING.startswith("the reports tell how many")


def test_the_same_seed_gives_the_same_tree_and_the_evidence_survives_its_file(model, blocks, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = PrivaCT(epsilon=None, rounds=3, random_state=0).fit(blocks[0])
    assert again.tree_ == model.tree_
    write_evidence(model.evidence_, tmp_path / "evidence.json")
    restored = read_evidence(tmp_path / "evidence.json")
    np.testing.assert_array_equal(restored.embed(model.reports_).points, model.evidence_.embed(model.reports_).points)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rounds": 0}, "rounds is 0"),
        ({"rounds": 2.5}, "rounds is 2.5"),
        ({"rounds": 1, "profile": "series"}, "two rounds or more"),
        ({"rounds": 3, "profile": "shares"}, "leave profile out"),
        ({"rounds": 2, "denoise": False}, "leave denoise on"),
    ],
)
def test_settings_that_cannot_be(blocks, options, message):
    with pytest.raises(InputError, match=message):
        PrivaCT(random_state=0, **options).fit(blocks[0])


def test_users_with_more_contacts_have_longer_points_and_small_clusters_split_by_cost(model):
    points = model.embedding_
    length = np.linalg.norm(points.points, axis=1)
    contacts = model.rounds_[0].reports.sum(axis=1)
    few, many = contacts <= np.quantile(contacts, 0.2), contacts >= np.quantile(contacts, 0.8)
    assert length[few].max() < length[many].max()
    assert length[few].mean() < length[many].mean()
    assert points.split_by == "cost"
    assert points.take(np.array([0, 1])).split_by == "cost"
