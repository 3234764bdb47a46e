"""A random partition as the paper makes it."""

from __future__ import annotations

import numpy as np

from privact.experiments.running.seeded_trees import random_partition


def test_partition_has_equal_bins():
    assert np.bincount(random_partition(100, 7, np.random.default_rng(0))).tolist() == [15, 15, 14, 14, 14, 14, 14]
