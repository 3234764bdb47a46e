"""The numbers behind `privact bench tree`: shapes, keys, and the claims that hold on every seed."""

from __future__ import annotations

import numpy as np
import pytest

from privact.bench.joiners import compare_joiners
from privact.bench.tree import growth, kernel_speed
from privact.experiments.tree_quality import PAPER, Seeded, bin_counts, bins_sweep, denoised, random_partition, table_2
from privact.learn.search.learn_tree import learn_tree
from privact.network.datasets import load_dataset
from privact.simulate.federated_network import federated_network


@pytest.fixture(scope="module")
def graph():
    return federated_network(200, random_state=2).graph


def test_partition_has_equal_bins():
    assert np.bincount(random_partition(100, 7, np.random.default_rng(0))).tolist() == [15, 15, 14, 14, 14, 14, 14]


def test_table_has_the_documented_keys(graph):
    found = table_2(graph, 2, lambda text: None)
    for way in ("paper", "default"):
        assert len(found[way]["relative_utility"]["runs"]) == 2
        assert found[way]["relative_utility"]["mean"] == pytest.approx(np.mean(found[way]["relative_utility"]["runs"]))
        assert set(found[way]["loss"]) == {"0.5", "1.0", "2.0"}
    linkage = found["average_linkage"]
    assert linkage["relative_utility"] == max(linkage["fastcluster"]["mean"], linkage["scipy"]["mean"])
    for ours, *theirs in zip(
        found["default"]["relative_utility"]["runs"], linkage["fastcluster"]["runs"], linkage["scipy"]["runs"], strict=True
    ):
        assert ours >= max(theirs)


def test_bins_sweep_covers_every_count_and_epsilon(graph):
    rows = list(bins_sweep(graph, 1, lambda text: None))
    assert [row["n_bins"] for row in rows[::4]] == bin_counts(200) == [1, 3, 5, 10, 14]
    assert [row["epsilon"] for row in rows[:4]] == [0.5, 1.0, 2.0, None]
    assert all(0 <= row["share_of_contacts"] <= 1 for row in rows)


def test_placed_users_are_nearer_to_their_community_than_to_anybody(graph):
    found = compare_joiners(graph, 4.0, seed=0)
    assert found["held_out"] == 20
    assert found["placed"] < found["anybody"]
    assert found["shared"] > found["shared_by_chance"]
    assert found["cost_ratio"] == pytest.approx(1.0, abs=0.02)


def test_speed_and_growth_measure_real_runs():
    vectors = np.random.default_rng(0).poisson(2, (60, 3))
    speed = kernel_speed(vectors)
    assert speed["ratio"] == pytest.approx(speed["steps_per_second"] / speed["plain_steps_per_second"])
    row = growth(200)
    assert row["n_bins"] == 5
    assert row["seconds"] > 0
    assert row["peak_mb"] > row["extra_mb"] >= 0


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("name", list(PAPER))
def test_the_papers_table_and_ours(name, data_dir):
    """Paper settings reproduce Table 2; the default beats average linkage without noise and the paper's loss with it."""
    run = Seeded(load_dataset(name, str(data_dir)).graph, 7, seed=11)
    assert run.utility(run.gentree) == pytest.approx(PAPER[name]["relative_utility"], rel=0.02)
    assert run.utility(learn_tree(run.vectors)) >= run.utility(learn_tree(run.vectors, search="linkage"))
    reports = run.reports(1.0)
    raw, ours = run.loss(learn_tree(reports, search="gentree", random_state=0)), run.loss(learn_tree(denoised(reports, 1.0)))
    assert raw == pytest.approx(PAPER[name]["loss"]["1.0"], rel=0.3)
    assert ours < 0.65 * PAPER[name]["loss"]["1.0"]
