from __future__ import annotations

import json
import signal
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from privact.bench.registry import BENCHMARKS
from privact.bench.scale import make_tables
from privact.cli.main import app
from privact.experiments.scale import sizes as module
from privact.experiments.scale.methods import GRAPH_PEERS, PEERS, run_method, write_reports_with_ids
from privact.experiments.scale.sizes import make_network, measure_method, measure_sizes
from privact.learn.search.balance import BALANCE
from privact.query.quality import draw_random_tree
from privact.tree.hct import HierarchicalClusterTree

KEYS = {"n", "n_bins", "method", "workers", "seconds", "processor_seconds", "peak_mb", "relative_utility", "status"}


@pytest.fixture
def told(monkeypatch):
    """Measurements that are made up: fastcluster fails at 300 users."""
    asked = []

    def made_up(method, counts, reports, patience, balance=None):
        asked.append((len(counts), method, patience))
        if "fastcluster" in method and len(counts) >= 300:
            return module._no_tree("out of memory"), None
        found = {"seconds": 1.0, "processor_seconds": len(counts) / 100, "peak_mb": 2.0, "relative_utility": 3.0, "status": "ok"}
        return found, draw_random_tree(len(counts), np.random.default_rng(0))

    monkeypatch.setattr(module, "measure_method", made_up)
    return asked


def test_every_row_has_the_promised_keys_and_peers_stop_where_they_fail(told):
    result = measure_sizes(lambda text: None, (200, 400, 300), 60.0)
    assert all(set(row) == KEYS for row in result["rows"])
    assert [row["n"] for row in result["rows"]] == sorted(row["n"] for row in result["rows"])
    assert {row["n"]: row["n_bins"] for row in result["rows"]} == {200: 5, 300: 5, 400: 5}
    linkage = [row["status"] for row in result["rows"] if "fastcluster" in row["method"]]
    assert linkage == ["ok", "out of memory", "not tried: failed at 300"]
    ours = {(row["n"], row["method"], row["workers"]) for row in result["rows"] if row["method"] not in PEERS | GRAPH_PEERS}
    assert ours == {(n, "privact", w) for n in (200, 300, 400) for w in (1, 2)} | {(400, "privact dask", w) for w in (1, 2)}
    assert all(patience == (60.0 if method in PEERS | GRAPH_PEERS else None) for _, method, patience in told)


def test_above_many_users_peers_are_given_a_sample_and_the_time_is_predicted(told, monkeypatch):
    monkeypatch.setattr(module, "MANY", 300)
    monkeypatch.setattr(module, "SAMPLE", 50)
    result = measure_sizes(lambda text: None, (200, 300, 600), 60.0)
    assert [(row["method"], row["workers"]) for row in result["rows"] if row["n"] == 600] == [("privact", 2)]
    assert [(row["n"], row["sampled"], row["method"]) for row in result["samples"]] == [
        (600, 50, method) for method in ("privact", *PEERS)
    ]
    assert {size for size, method, _ in told if method in PEERS} == {200, 300, 50}
    (predicted,) = result["predictions"]
    assert (predicted["n"], predicted["from"]) == (600, [200, 300])
    assert predicted["processor_seconds"] == pytest.approx(6.0)  # 2 and 3 seconds so far: as many as users / 100
    tables = make_tables(result)
    assert len(tables) == 3
    assert tables[2].rows == [["600", "200 and 300", "6", "6", "+0 %"]]


def test_the_command_prints_a_table_and_keeps_json(told, tmp_path):
    arguments = ["bench", "scale", "--users", "200", "--users", "300", "--no-peers", "--json", str(tmp_path / "scale.json")]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    assert "privact dask" in result.stdout
    document = json.loads((tmp_path / "scale.json").read_text())
    assert document["benchmark"] == "scale"
    assert document["machine"]["cores"] >= 1
    assert {"name": "300 users, privact, 1 workers", "value": 1.0, "unit": "s", "more_is_better": False} in document["speeds"]
    assert {method.rpartition(":")[0] for _, method, _ in told} == {"privact", "privact dask"}


def test_a_network_is_heavy_tailed_and_its_reports_carry_noise():
    counts, reports = make_network(2_000)
    assert counts.shape == reports.shape == (2_000, 7)
    degrees = counts.sum(axis=1)
    assert degrees.max() > 5 * np.median(degrees)  # Poisson counts stay below 3 times
    noise = reports - counts
    ratio = np.exp(-0.5)  # half of epsilon 1 for each report
    assert noise.var() == pytest.approx(2 * ratio / (1 - ratio) ** 2, rel=0.1)


@pytest.mark.parametrize("method", [*PEERS, "privact:1"])
def test_every_method_makes_a_tree_of_everybody(method, tmp_path):
    reports = make_network(200)[1]
    np.save(tmp_path / "reports.npy", reports)
    write_reports_with_ids(tmp_path, reports)
    output = tmp_path / ("children.npy" if method in PEERS else "tree.hct")
    run_method(method, str(tmp_path / "reports.npy"), str(output))
    if method in PEERS:
        assert sorted(np.load(output).ravel()) == list(range(2 * 200 - 2))
    else:
        tree = HierarchicalClusterTree.load(output)
        assert list(tree.users) == [f"user{i}@example.social" for i in range(200)]


def test_the_floor_of_our_trees_can_be_chosen():
    counts, reports = make_network(200)
    trees = {balance: measure_method("privact:1", counts, reports, None, balance)[1] for balance in (None, BALANCE, 0.0)}
    usual, same, free = ((tree.left.tolist(), tree.right.tolist()) for tree in trees.values())
    assert usual == same != free


@pytest.mark.parametrize("method", ["bisecting k-means", "privact:1", *GRAPH_PEERS])
def test_a_measurement_in_a_process_of_its_own(method):
    if method in GRAPH_PEERS:
        pytest.importorskip("sknetwork")
    row, tree = measure_method(method, *make_network(200), 600.0)
    assert tree.n_users == 200
    assert row["status"] == "ok"
    assert row["seconds"] > 0
    assert row["peak_mb"] > 20  # at least an interpreter with NumPy
    assert row["relative_utility"] > 1


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("import sys; sys.exit(3)", "out of memory"),
        (f"import os; os.kill(os.getpid(), {int(signal.SIGKILL)})", "out of memory"),
        ("import time; time.sleep(60)", "gave up after 1 s"),
        ("raise ValueError('too many')", "failed: ValueError: too many"),
    ],
)
def test_why_there_is_no_tree(monkeypatch, code, status):
    watched = module.run_watched
    monkeypatch.setattr(module, "run_watched", lambda command, patience: watched([sys.executable, "-c", code], patience))
    row, _ = measure_method("anything", *make_network(200), 1.0 if "gave up" in status else 60.0)
    assert row == module._no_tree(status)


def test_the_benchmark_measures_the_default_floor():
    scale = next(each for each in BENCHMARKS if each.name == "scale")
    assert next(option.default for option in scale.options if option.name == "balance") == BALANCE
