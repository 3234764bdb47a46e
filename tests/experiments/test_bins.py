"""Bins: both parts, and verdicts that follow from the shares of contacts by their rules."""

from __future__ import annotations

import pytest

from privact.experiments.bins import bins, made_up_rows, meanings
from privact.experiments.bins_page import meaning_claim, number_claim


def quiet(*told):
    pass


def test_bins_has_both_parts_and_goes_on_from_what_is_kept(contacts_only, tmp_path, monkeypatch):
    monkeypatch.setattr("privact.experiments.bins.made_up_rows", lambda n, seed: [0.1] * len(meanings()))
    found = bins(contacts_only, tmp_path, True, quiet)
    assert [row["n_bins"] for row in found.document["numbers"] if row["epsilon"] == 1.0] == [1, 3, 4, 9, 10]
    assert [row["bins"] for row in found.document["made_up"]["rows"]][:2] == ["random", "home servers"]
    monkeypatch.setattr("privact.experiments.bins.bins_sweep", None)
    assert bins(contacts_only, tmp_path, True, quiet).document == found.document


def test_servers_and_tastes_see_more_than_random_bins_on_a_network_that_follows_them():
    share = dict(zip(((each.bins, each.profile) for each in meanings()), made_up_rows(256, 0), strict=True))
    assert share["home servers", "shares+own"] > 2 * share["random", "counts"]
    assert share["taste groups", "shares+own"] > 2 * share["random", "counts"]


@pytest.mark.parametrize(("most", "verdict"), [(0.025, "holds"), (0.026, "does not hold")])
def test_the_verdict_on_the_number_of_bins(most, verdict):
    rows = [
        {"dataset": "x", "n_bins": n_bins, "epsilon": epsilon, "share_of_contacts": share}
        for n_bins, epsilon, share in ((1, 1.0, 0.02), (7, 1.0, most), (7, None, 0.9))
    ]
    assert number_claim(rows).verdict == verdict


@pytest.mark.parametrize(
    ("servers", "alone", "verdict"), [(0.2, 0.1, "holds"), (0.2, 0.3, "holds with a caveat"), (0.19, 0.1, "does not hold")]
)
def test_the_verdict_on_what_bins_mean(servers, alone, verdict):
    share = {("random", "counts"): 0.1, ("home servers", "shares+own"): servers, ("home servers", "own group only"): alone}
    share |= {("taste groups", "shares+own"): 0.5, ("taste groups", "own group only"): 0.1}
    rows = [{"bins": kind, "profile": profile, "share_of_contacts": value} for (kind, profile), value in share.items()]
    assert meaning_claim(rows).verdict == verdict
