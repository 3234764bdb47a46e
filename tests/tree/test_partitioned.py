from __future__ import annotations

import numpy as np
import pytest

from privact.tree import partitioned as module
from privact.tree._kernels import fill
from privact.tree.embedding import Embedding
from privact.tree.hct import HierarchicalClusterTree
from privact.tree.linkage import average_linkage
from privact.tree.partitioned import Partitioned, partitioned
from privact.tree.posterior import CountPosterior
from privact.tree.state import state_of


def heavy_tailed(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.poisson(np.outer(6.0 * rng.pareto(1.6, n) + 1.0, np.full(5, 0.2)))


def quiet(_learned):
    pass


def grown(embedding, seed=0, progress=quiet):
    return partitioned(embedding, np.random.default_rng(seed), progress)


@pytest.fixture
def small_parts(monkeypatch):
    """Split early, so that small trees are made as large ones are."""
    monkeypatch.setattr(module, "SAMPLE", 40)
    monkeypatch.setattr(module, "PART", 20)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("n", [2, 3, 19, 20, 21, 39, 40, 41, 333])
@pytest.mark.parametrize("kind", ["heavy tailed", "the same", "two kinds", "one far away"])
def test_everybody_is_in_one_tree(n, kind):
    vectors = {
        "heavy tailed": heavy_tailed(n),
        "the same": np.full((n, 2), 3),
        "two kinds": np.arange(n)[:, None] % 2 * 9,
        "one far away": np.arange(n)[:, None] // (n - 1) * 10**6,
    }[kind]
    left, right = grown(Embedding.from_counts(vectors))
    tree = HierarchicalClusterTree.from_children(left, right)  # refuses what is not one full binary tree
    assert sorted(tree.order.tolist()) == list(range(n))
    assert np.all(np.maximum(left, right) < np.arange(n, 2 * n - 1))  # children before parents


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("seed", range(3))
def test_it_comes_close_to_average_linkage_of_everybody(seed):
    embedding = Embedding.from_counts(heavy_tailed(800, seed))
    exact = fill(state_of(embedding, *average_linkage(embedding)))
    assert fill(state_of(embedding, *grown(embedding, seed))) >= 0.95 * exact  # with tiny samples, before any polish


@pytest.mark.usefixtures("small_parts")
def test_groups_that_are_far_apart_stay_apart():
    group = np.random.default_rng(3).integers(0, 5, 400)
    vectors = 1000 * np.eye(5, dtype=np.int64)[group] + np.random.default_rng(4).integers(0, 9, (400, 5))
    tree = HierarchicalClusterTree.from_children(*grown(Embedding.from_counts(vectors)))
    found = {frozenset(tree.order[s : s + m].tolist()) for s, m in zip(tree.start, tree.size, strict=True)}
    for number in range(5):
        assert frozenset(np.flatnonzero(group == number).tolist()) in found


@pytest.mark.usefixtures("small_parts")
def test_few_enough_users_are_one_part():
    embedding = Embedding.from_counts(np.random.default_rng(5).random((20, 3)))
    exact = HierarchicalClusterTree.from_children(*average_linkage(embedding))
    assert HierarchicalClusterTree.from_children(*grown(embedding)) == exact


@pytest.mark.usefixtures("small_parts")
def test_no_part_is_larger_than_allowed(monkeypatch):
    """Memory is quadratic only inside a sketch or a part."""
    largest = []

    def watched(embedding):
        largest.append(len(embedding))
        return average_linkage(embedding)

    monkeypatch.setattr(module, "average_linkage", watched)
    for vectors in (heavy_tailed(1_000), np.zeros((1_000, 1), np.int64), np.arange(1_000)[:, None]):
        grown(Embedding.from_counts(vectors))
    assert max(largest) <= 40


def test_nearest_is_by_the_distance_between_points():
    """The lowest expected dissimilarity would send the uncertain user to the certain one at (1, 1)."""
    sample = Embedding(np.array([[1.0, 1.0], [0.1, 0.1], [-1.0, -1.0]]), np.array([0.5, 2.0]), 2.5)
    users = Embedding(np.array([[0.2, 0.2], [0.9, 0.9], [-0.7, -0.7], [0.1, 0.1]]), sample.weights, 2.5)
    assert module._nearest(sample, users, np.array([0, 1, 2, 3])).tolist() == [1, 0, 2, 1]
    assert module._nearest(sample, users, np.array([2, 1])).tolist() == [2, 0]


@pytest.mark.usefixtures("small_parts")
def test_uncertain_users_are_not_all_sent_to_the_certain_ones():
    """Posterior points differ in length; nearest is by distance between points."""
    rng = np.random.default_rng(6)
    truth = heavy_tailed(600, seed=6)
    reports = truth + rng.geometric(0.4, truth.shape) - rng.geometric(0.4, truth.shape)
    embedding = CountPosterior.fit(reports, 0.5, equal_bins=True).embed(reports)
    exact = fill(state_of(embedding, *average_linkage(embedding)))
    assert fill(state_of(embedding, *grown(embedding))) >= 0.95 * exact


@pytest.mark.usefixtures("small_parts")
def test_progress_rises_to_the_last_user():
    told = []
    grown(Embedding.from_counts(heavy_tailed(300)), progress=told.append)
    assert told == sorted(told)
    assert 250 < told[-1] <= 300


@pytest.mark.usefixtures("small_parts")
def test_same_seed_same_tree():
    embedding = Embedding.from_counts(heavy_tailed(300))
    first, again, other = (HierarchicalClusterTree.from_children(*grown(embedding, seed)) for seed in (7, 7, 8))
    assert first == again
    assert first != other


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("vectors", [np.full((4_000, 2), 3), 3 ** np.minimum(np.arange(4_000), 30)[:, None]])
def test_it_calls_itself_only_some_levels_deep(monkeypatch, vectors):
    depth, deepest = [0], [0]
    learn = Partitioned.learn

    def counted(self, users):
        depth[0] += 1
        deepest[0] = max(deepest[0], depth[0])
        root = learn(self, users)
        depth[0] -= 1
        return root

    monkeypatch.setattr(Partitioned, "learn", counted)
    grown(Embedding.from_counts(vectors))
    assert deepest[0] <= 60
