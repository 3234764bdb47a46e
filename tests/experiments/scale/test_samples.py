"""A tree restricted to some leaves: every triple parts as before."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from privact.experiments.scale.samples import restrict_tree
from privact.query.quality import draw_random_tree


def size_of_join(tree, one, other):
    """Users of the smallest cluster that holds both."""
    low, high = sorted((tree.start[one], tree.start[other]))
    return tree.size[tree.joins[low:high].max()]


@pytest.mark.parametrize("seed", range(5))
def test_of_three_users_the_same_two_stay_together_longest(seed):
    rng = np.random.default_rng(seed)
    tree = draw_random_tree(40, rng)
    chosen = np.sort(rng.choice(40, 12, replace=False))
    small = restrict_tree(tree, chosen)
    for three in combinations(range(12), 3):
        pairs = list(combinations(three, 2))
        nearest = {pair: size_of_join(tree, *chosen[list(pair)]) for pair in pairs}
        assert min(pairs, key=nearest.get) == min(pairs, key=lambda pair: size_of_join(small, *pair))


def test_all_leaves_give_the_tree_itself():
    tree = draw_random_tree(30, np.random.default_rng(0))
    assert restrict_tree(tree, np.arange(30)) == tree
