from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from privact.learn.limits import LIMITS
from privact.learn.scale.balanced_partition import learn_balanced_in_parts
from privact.learn.scale.engines import open_engine
from privact.learn.search._swaps import fill
from privact.learn.search.balance import compute_floors
from privact.learn.search.search_state import state_of
from privact.progress import ignore_progress
from privact.tree.embedding import Embedding
from privact.tree.hct import HierarchicalClusterTree

SMALL = replace(LIMITS, part=200, split_sample=400, routed=173)
"""Limits under which small trees are made as large ones are."""


def heavy_tailed(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.poisson(np.outer(6.0 * rng.pareto(1.6, n) + 1.0, np.full(5, 0.2)))


def learn(vectors, **options):
    found = learn_balanced_in_parts(
        Embedding.from_counts(vectors), 0.04, np.random.default_rng(0), ignore_progress, limits=SMALL, **options
    )
    return HierarchicalClusterTree.from_children(found.left, found.right)


KINDS = {
    "heavy tailed": heavy_tailed,
    "the same": lambda n: np.full((n, 2), 3),
    "two kinds": lambda n: np.arange(n)[:, None] % 2 * 9,
    "one far away": lambda n: np.arange(n)[:, None] // (n - 1) * 10**6,
    "half the same": lambda n: np.where(np.arange(n)[:, None] % 2, 5, heavy_tailed(n)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_tree_of_parts_keeps_the_floor(kind):
    tree = learn(KINDS[kind](3_000))
    floor = compute_floors(3_000, 3_000, 0.04)
    assert (np.minimum(tree.size[tree.left], tree.size[tree.right]) >= floor[tree.size[3_000:]]).all()


def test_two_processes_learn_the_same_tree():
    vectors = heavy_tailed(1_000)
    with open_engine(2) as engine:
        assert learn(vectors, engine=engine) == learn(vectors)


def test_the_cost_counts_the_joins_above_the_parts():
    embedding = Embedding.from_counts(heavy_tailed(1_000))
    found = learn_balanced_in_parts(embedding, 0.04, np.random.default_rng(0), ignore_progress, limits=SMALL)
    assert found.costs[-1] == pytest.approx(fill(state_of(embedding, found.left, found.right)), rel=1e-12)
    assert found.costs[0] < found.costs[-1]
