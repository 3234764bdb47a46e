"""Small random trees, and what they mean in plain sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from privact.tree.hct import HierarchicalClusterTree

settings.register_profile("no clock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("no clock")


@st.composite
def _children(draw, most_users=20):
    """Children of internal nodes of a random tree, numbered at random: (left, right)."""
    n_users = draw(st.integers(1, most_users))
    numbers = draw(st.permutations(range(n_users, 2 * n_users - 1)))
    left, right = [0] * (n_users - 1), [0] * (n_users - 1)
    roots = list(range(n_users))
    for number in numbers:
        left[number - n_users] = roots.pop(draw(st.integers(0, len(roots) - 1)))
        right[number - n_users] = roots.pop(draw(st.integers(0, len(roots) - 1)))
        roots.append(number)
    return np.array(left, np.int64), np.array(right, np.int64)


def _members(left, right):
    """The set of leaves below each node, straight from the definition."""
    n_users = len(left) + 1
    known = {leaf: frozenset([leaf]) for leaf in range(n_users)}
    while len(known) < 2 * n_users - 1:
        for i, (a, b) in enumerate(zip(left, right, strict=True)):
            if int(a) in known and int(b) in known:
                known[n_users + i] = known[int(a)] | known[int(b)]
    return [known[node] for node in range(2 * n_users - 1)]


def _path(n_users, users=None):
    """The path-like tree that adds leaf 1, 2, 3, ... to leaf 0."""
    left = np.arange(n_users - 1, 2 * n_users - 2)
    left[:1] = 0
    return HierarchicalClusterTree.from_children(left, np.arange(1, n_users), users)


@pytest.fixture(scope="session")
def children():
    return _children()


@pytest.fixture(scope="session")
def trees():
    return _children().map(lambda pair: HierarchicalClusterTree.from_children(*pair))


@pytest.fixture(scope="session")
def members():
    return _members


@pytest.fixture(scope="session")
def path_tree():
    return _path
