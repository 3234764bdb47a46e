"""Newcomers in a large tree: part by part they come to the places that a walk through the whole tree finds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from privact.learn.limits import Limits
from privact.learn.place_finder import PlaceFinder
from privact.learn.search._regrafts import best_siblings
from privact.learn.search.balance import FEW
from privact.learn.search.learn_tree import learn_tree
from privact.learn.search.search_state import state_of
from privact.tree.embedding import Embedding, Thresholds


def draw_users(seed: int) -> tuple[Embedding, Embedding]:
    """300 users and 60 newcomers."""
    rng = np.random.default_rng(seed)
    vectors = rng.poisson(rng.pareto(1.5, (360, 1)) * 3 + 1, (360, 3))
    thresholds = Thresholds.of(vectors)
    return thresholds.embed(vectors[:300]), thresholds.embed(vectors[300:])


@pytest.mark.parametrize("balance", [0.04, 0.0])
@pytest.mark.parametrize("part", [1, 7, 30, 150, 300])
def test_places_do_not_depend_on_the_size_of_parts(balance: float, part: int) -> None:
    users, newcomers = draw_users(part)
    tree = learn_tree(users, balance=balance, random_state=0)
    tree = tree.with_parameters({"balance": balance} if balance else {})
    state = state_of(users, tree.left, tree.right)
    expected = best_siblings(state, newcomers.points.astype(np.float64), FEW - 1 if balance else tree.n_users)
    found = PlaceFinder(tree, users, replace(Limits(), part=part)).find(newcomers)
    assert found.tolist() == expected.tolist()


def test_only_one_part_of_the_points_is_made_at_a_time() -> None:
    users, newcomers = draw_users(0)

    class Watched:
        """Users who remember for how many of them points were made at a time."""

        largest = 0

        def __len__(self) -> int:
            return len(users)

        def take(self, some: np.ndarray) -> Embedding:
            self.largest = max(self.largest, len(some))
            return users.take(some)

    watched = Watched()
    PlaceFinder(learn_tree(users, random_state=0), watched, replace(Limits(), part=40)).find(newcomers)
    assert 10 < watched.largest <= 40
