"""Separate groups are found whatever their number and sizes; users who differ by degrees are split as before."""

from __future__ import annotations

import numpy as np
import pytest

from privact import learn_tree
from privact.learn.search.balance import BALANCE
from privact.learn.search.split_choice import choose_split
from privact.tree.embedding import Embedding


def draw_groups(sizes):
    """Counts of users in groups, each with its own bin, and the group of each user."""
    rng = np.random.default_rng(0)
    group = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return rng.poisson(np.where(group[:, None] == np.arange(len(sizes)), 20, 1)), group


@pytest.mark.parametrize("sizes", [[100] * 4, [500] * 4, [50] * 6, [40, 140], [30, 270]])
def test_a_cut_finds_separate_groups(sizes):
    counts, group = draw_groups(sizes)
    found = learn_tree(counts, random_state=0).cut(len(sizes))
    assert len({*zip(found.tolist(), group.tolist(), strict=True)}) == len(sizes)


def test_many_groups_are_split_by_cost_and_numbers_of_contacts_by_size():
    counts, _ = draw_groups([100] * 4)
    assert choose_split(Embedding.from_counts(counts), BALANCE).split_by == "cost"
    rng = np.random.default_rng(0)
    numbers = rng.poisson(np.minimum(rng.pareto(1.5, (600, 1)) * 8.0 + 1.0, 200.0), (600, 1))
    assert choose_split(Embedding.from_counts(numbers), BALANCE).split_by == "size"


def test_what_the_embedding_decides_is_kept():
    counts, _ = draw_groups([100] * 4)
    assert choose_split(Embedding.from_counts(counts).with_split("means"), BALANCE).split_by == "means"
