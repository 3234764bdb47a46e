"""Posterior: a row for each method, and a verdict that follows from the losses by its rule."""

from __future__ import annotations

import pytest

from privact.experiments.posterior import EXPERIMENT
from privact.experiments.posterior.measure import METHODS, measure_losses
from privact.experiments.posterior.page import check_posterior
from privact.experiments.running.networks import PaperNetworks
from privact.simulate.federated_network import make_federated_network


def test_the_posterior_has_a_row_for_every_network_epsilon_and_method(contacts_only, tmp_path):
    found = EXPERIMENT.run(PaperNetworks(contacts_only), quick=True, parts=tmp_path)
    rows = found.document["rows"]
    assert len(rows) == 3 * 3 * len(METHODS)
    assert rows[0]["paper"] == 9.57
    assert len(list(tmp_path.iterdir())) == 3  # a part for each network and seed
    assert found.page.text.count("| lastfm |") == 3


def test_comparing_by_the_posterior_loses_less_than_the_reports_do():
    graph = make_federated_network(200, random_state=1).graph
    found = measure_losses(graph, 0)
    assert set(found) == {"0.5", "1.0", "2.0"}
    assert found["0.5"]["expected"] < found["0.5"]["raw"]


@pytest.mark.parametrize(
    ("expected", "verdict"), [(2.0, "holds"), (2.6, "holds with a caveat"), (3.05, "holds with a caveat"), (3.2, "does not hold")]
)
def test_the_verdict_on_the_posterior_follows_from_the_losses(expected, verdict):
    loss = {"paper": 4.0, "raw": 4.0, "means": 3.0, "expected": expected}
    rows = [{"dataset": "x", "epsilon": 1.0, "method": method, "loss": value} for method, value in loss.items()]
    assert check_posterior(rows).verdict == verdict
