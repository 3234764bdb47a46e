"""The measurements behind `privact bench tree` run, and other ways to learn a tree are compared with ours."""

from __future__ import annotations

import numpy as np
import pytest

from privact.bench.late_joiners import compare_joiners
from privact.bench.tree import measure_growth, measure_kernel
from privact.bench.tree_peers import compare_peers
from privact.simulate.federated_network import make_federated_network


@pytest.fixture(scope="module")
def graph():
    return make_federated_network(200, random_state=2).graph


def test_every_way_to_learn_a_tree_has_a_row_and_ours_has_the_best_utility(graph):
    rows = {row["method"]: row for row in compare_peers(graph, lambda text: None)}
    assert {"linkage+gentree", "gentree", "average", "complete", "single", "ward", "bisection", "random", "paris"} <= set(rows)
    assert {name for name, row in rows.items() if row["sees"] == "contacts"} == {"paris"}
    best = max(row["relative_utility"] for row in rows.values())
    assert rows["linkage+gentree, unrestricted"]["relative_utility"] == pytest.approx(best, rel=0.01)
    assert rows["random"]["relative_utility"] == min(row["relative_utility"] for row in rows.values() if row["sees"] == "counts")
    assert rows["paris"]["share_of_contacts"] > rows["random"]["share_of_contacts"]


def test_placed_users_are_nearer_to_their_community_than_to_anybody(graph):
    found = compare_joiners(graph, 4.0, seed=0)
    assert found["held_out"] == 20
    assert found["placed"] < found["anybody"]
    assert found["shared"] > found["shared_by_chance"]
    assert found["cost_ratio"] == pytest.approx(1.0, abs=0.02)


def test_speed_and_growth_measure_real_runs():
    vectors = np.random.default_rng(0).poisson(2, (60, 3))
    speed = measure_kernel(vectors)
    assert speed["ratio"] == pytest.approx(speed["steps_per_second"] / speed["plain_steps_per_second"])
    row = measure_growth(200)
    assert row["n_bins"] == 5
    assert row["seconds"] > 0
    assert row["peak_mb"] > row["extra_mb"] >= 0
