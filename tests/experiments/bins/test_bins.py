"""Bins: both parts, and verdicts that follow from the shares of contacts by their rules."""

from __future__ import annotations

import pytest

from privact.experiments.bins import EXPERIMENT
from privact.experiments.bins.measure import choose_bin_counts, list_meanings, measure_made_up, sweep_bins
from privact.experiments.bins.page import check_meaning_of_bins, check_number_of_bins
from privact.experiments.running.networks import PaperNetworks
from privact.simulate.federated_network import make_federated_network


def test_bins_has_both_parts_and_goes_on_from_what_is_kept(contacts_only, tmp_path, monkeypatch):
    monkeypatch.setattr("privact.experiments.bins.measure.measure_made_up", lambda n, seed: [0.1] * len(list_meanings()))
    networks = PaperNetworks(contacts_only)
    found = EXPERIMENT.run(networks, quick=True, parts=tmp_path)
    assert [row["n_bins"] for row in found.document["numbers"] if row["epsilon"] == 1.0] == [1, 3, 4, 9, 10]
    assert [row["bins"] for row in found.document["made_up"]["rows"]][:2] == ["random", "home servers"]
    monkeypatch.setattr("privact.experiments.bins.measure.sweep_bins", None)
    assert EXPERIMENT.run(networks, quick=True, parts=tmp_path).document == found.document


def test_servers_and_tastes_see_more_than_random_bins_on_a_network_that_follows_them():
    share = dict(zip(((each.bins, each.profile) for each in list_meanings()), measure_made_up(256, 0), strict=True))
    assert share["home servers", "shares+own"] > 2 * share["random", "counts"]
    assert share["taste groups", "shares+own"] > 2 * share["random", "counts"]


@pytest.mark.parametrize(("most", "verdict"), [(0.025, "holds"), (0.026, "does not hold")])
def test_the_verdict_on_the_number_of_bins(most, verdict):
    rows = [
        {"dataset": "x", "n_bins": n_bins, "epsilon": epsilon, "share_of_contacts": share}
        for n_bins, epsilon, share in ((1, 1.0, 0.02), (7, 1.0, most), (7, None, 0.9))
    ]
    assert check_number_of_bins(rows).verdict == verdict


@pytest.mark.parametrize(
    ("servers", "alone", "verdict"), [(0.2, 0.1, "holds"), (0.2, 0.3, "holds with a caveat"), (0.19, 0.1, "does not hold")]
)
def test_the_verdict_on_what_bins_mean(servers, alone, verdict):
    share = {("random", "counts"): 0.1, ("home servers", "shares+own"): servers, ("home servers", "own group only"): alone}
    share |= {("taste groups", "shares+own"): 0.5, ("taste groups", "own group only"): 0.1}
    rows = [{"bins": kind, "profile": profile, "share_of_contacts": value} for (kind, profile), value in share.items()]
    assert check_meaning_of_bins(rows).verdict == verdict


def test_every_number_of_bins_is_measured_at_every_epsilon():
    graph = make_federated_network(200, random_state=2).graph
    rows = list(sweep_bins(graph, 1, lambda text: None))
    assert [row["n_bins"] for row in rows[::4]] == choose_bin_counts(200) == [1, 3, 5, 10, 14]
    assert [row["epsilon"] for row in rows[:4]] == [0.5, 1.0, 2.0, None]
    assert all(0 <= row["share_of_contacts"] <= 1 for row in rows)
