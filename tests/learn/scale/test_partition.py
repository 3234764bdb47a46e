from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from privact.learn.evidence.count_posterior import CountPosterior
from privact.learn.limits import Limits
from privact.learn.scale import part
from privact.learn.scale import partition as module
from privact.learn.scale.engines import open_engine
from privact.learn.scale.partition import learn_in_parts
from privact.learn.scale.population import EmbeddedRows
from privact.learn.search._swaps import fill
from privact.learn.search.linkage import average_linkage
from privact.learn.search.search_state import state_of
from privact.progress import ignore_progress
from privact.tree.embedding import Embedding
from privact.tree.hct import HierarchicalClusterTree


def heavy_tailed(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.poisson(np.outer(6.0 * rng.pareto(1.6, n) + 1.0, np.full(5, 0.2)))


SMALL_PARTS = Limits(part=60, sketch_sample=40, part_linkage=20, routed=37, summed=41)
"""Split early, so that small trees are made as large ones are."""


def grown(population, seed=0, progress=ignore_progress, limits=SMALL_PARTS, **options):
    return learn_in_parts(population, np.random.default_rng(seed), progress, limits=limits, **options)


def tree_of(found):
    return HierarchicalClusterTree.from_children(found.left, found.right)


def cost_of(embedding, found):
    tree = tree_of(found)
    return fill(state_of(embedding, tree.left, tree.right))


KINDS = {
    "heavy tailed": heavy_tailed,
    "the same": lambda n: np.full((n, 2), 3),
    "two kinds": lambda n: np.arange(n)[:, None] % 2 * 9,
    "one far away": lambda n: np.arange(n)[:, None] // (n - 1) * 10**6,
    "half the same": lambda n: np.where(np.arange(n)[:, None] % 2, 5, heavy_tailed(n)),
}


@pytest.mark.parametrize("n", [2, 3, 20, 21, 59, 60, 61, 119, 121, 700])
@pytest.mark.parametrize("kind", KINDS)
def test_everybody_is_in_one_tree(n, kind):
    embedding = Embedding.from_counts(KINDS[kind](n))
    found = grown(embedding)
    tree = tree_of(found)  # refuses what is not one full binary tree
    assert sorted(tree.order.tolist()) == list(range(n))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [50, 500])
def test_the_costs_it_tells_are_those_of_the_tree(kind, n):
    embedding = Embedding.from_counts(KINDS[kind](n))
    found = grown(embedding)
    assert found.costs[-1] == pytest.approx(cost_of(embedding, found), rel=1e-12, abs=1e-6)
    assert found.costs[0] == pytest.approx(cost_of(embedding, grown(embedding, rounds=0)), rel=1e-12, abs=1e-6)
    assert found.costs == sorted(found.costs)


@pytest.mark.parametrize("seed", range(3))
def test_it_comes_close_to_average_linkage_of_everybody(seed):
    embedding = Embedding.from_counts(heavy_tailed(800, seed))
    exact = fill(state_of(embedding, *average_linkage(embedding)))
    assert grown(embedding, seed, rounds=0).costs[-1] >= 0.95 * exact  # with tiny samples, before any polish
    assert grown(embedding, seed).costs[-1] >= exact


def test_groups_that_are_far_apart_stay_apart():
    group = np.random.default_rng(3).integers(0, 5, 400)
    vectors = 1000 * np.eye(5, dtype=np.int64)[group] + np.random.default_rng(4).integers(0, 9, (400, 5))
    tree = tree_of(grown(Embedding.from_counts(vectors)))
    found = {frozenset(tree.order[s : s + m].tolist()) for s, m in zip(tree.start, tree.size, strict=True)}
    for number in range(5):
        assert frozenset(np.flatnonzero(group == number).tolist()) in found


def test_no_task_is_given_more_than_it_may_hold(monkeypatch):
    """Memory of a worker is bounded: quadratic only inside a sketch or an exact part, linear in a part."""
    linked, learned = [], []

    def watched(embedding, limits):
        linked.append(len(embedding))
        return average_linkage(embedding, limits)

    learn_part = part.learn_part

    def learn(embedding, *others):
        learned.append(len(embedding))
        return learn_part(embedding, *others)

    monkeypatch.setattr(module, "average_linkage", watched)
    monkeypatch.setattr(part, "average_linkage", watched)
    monkeypatch.setattr(module, "learn_part", learn)
    for kind in KINDS:
        grown(Embedding.from_counts(KINDS[kind](1_000)))
    assert max(linked) <= 40
    assert max(learned) <= 60


def test_uncertain_users_are_not_all_sent_to_the_certain_ones():
    """Posterior points differ in length; nearest is by distance between points."""
    rng = np.random.default_rng(6)
    truth = heavy_tailed(600, seed=6)
    reports = truth + rng.geometric(0.4, truth.shape) - rng.geometric(0.4, truth.shape)
    embedding = CountPosterior.fit(reports, 0.5, equal_bins=True).embed(reports)
    exact = fill(state_of(embedding, *average_linkage(embedding)))
    assert grown(embedding, rounds=0).costs[-1] >= 0.95 * exact


def test_progress_rises_to_the_last_user():
    told = []
    grown(Embedding.from_counts(heavy_tailed(300)), progress=lambda *what: told.append(what))
    assert list(dict.fromkeys(stage for stage, _, _ in told)) == [
        "sketching", "sending users to their parts", "learning parts", "adding up clusters", "polishing",
    ]  # fmt: skip
    learned = [done for stage, done, total in told if stage == "learning parts" and total == 300]
    assert learned == sorted(learned)
    assert (learned[0], learned[-1]) == (0, 300)


def test_same_seed_same_tree():
    embedding = Embedding.from_counts(heavy_tailed(300))
    first, again, other = (tree_of(grown(embedding, seed)) for seed in (7, 7, 8))
    assert first == again
    assert first != other


def test_rows_and_their_points_give_the_same_tree():
    reports = heavy_tailed(500) - 1
    posterior = CountPosterior.fit(reports, 0.5, equal_bins=True)
    assert tree_of(grown(EmbeddedRows(reports, posterior))) == tree_of(grown(posterior.embed(reports)))


@pytest.mark.parametrize("kind", ["posterior", "counts"])
def test_a_pool_of_processes_gives_the_same_tree(kind, tmp_path):
    limits = Limits(part=300, sketch_sample=200, part_linkage=100, routed=500)
    vectors = heavy_tailed(1_200)
    population = Embedding.from_counts(vectors)
    if kind == "posterior":
        population = EmbeddedRows(vectors, CountPosterior.fit(vectors, 0.5, equal_bins=True))
    here = grown(population, limits=limits)
    with open_engine(workers=2, scratch=tmp_path) as engine:
        there = grown(population, limits=limits, engine=engine)
        assert engine.workers == 2
    assert here.left.tobytes() + here.right.tobytes() == there.left.tobytes() + there.right.tobytes()
    assert here.costs == there.costs
    assert list(tmp_path.iterdir()) == []


def test_the_top_alone_is_polished_where_memory_is_short():
    """The largest clusters hang together, so swaps between them are swaps of the whole tree."""
    embedding = Embedding.from_counts(heavy_tailed(700, 2))
    whole = grown(embedding)
    top = grown(embedding, limits=replace(SMALL_PARTS, top_bytes=16 * len(embedding.weights) * 100))
    assert top.costs[:2] == pytest.approx(whole.costs[:2], rel=1e-12)
    assert top.costs[1] < top.costs[-1]
    assert top.costs[-1] == pytest.approx(cost_of(embedding, top), rel=1e-12)


@pytest.mark.parametrize("vectors", [np.full((1_500, 2), 3), 3 ** np.minimum(np.arange(1_500), 30)[:, None]])
def test_users_who_look_the_same_end_up_in_a_shallow_tree(vectors):
    tree = tree_of(grown(Embedding.from_counts(vectors), rounds=0))
    assert tree.depths.max() <= 60
