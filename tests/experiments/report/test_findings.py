"""Verdicts that the spread of the runs does not decide are held back."""

from __future__ import annotations

import pytest

from privact.experiments.report.findings import Claim, Page
from privact.experiments.table3.page import check_popularity
from privact.experiments.table5.page import check_profile


@pytest.mark.parametrize(
    ("runs", "decided", "verdict"),
    [
        (None, None, "does not hold"),  # nothing is left to chance
        (3, None, "does not hold"),
        (1, None, "too few runs to tell"),
        (1, True, "does not hold"),  # a test over users decides it
        (3, False, "too few runs to tell"),
    ],
)
def test_one_run_decides_nothing_unless_the_claim_knows_its_spread(runs, decided, verdict):
    claim = Claim("A.", "a rule", "does not hold", "Numbers.", decided)
    [found] = Page("text", [claim], print, runs=runs).with_undecided_claims().claims
    assert found.verdict == verdict
    assert ("By these numbers alone: does not hold." in found.evidence) == (verdict == "too few runs to tell")
    assert set(found.as_dict()) == {"statement", "rule", "verdict", "evidence"}


@pytest.mark.parametrize(("p", "decided"), [(0.005, True), (0.2, False), (0.995, True)])
def test_popularity_is_decided_by_the_test_over_users(p, decided):
    compared = [{"dataset": "lastfm", "against": "most popular", "ratio": 1.2, "ratio_error": 0.01, "p_value": p}]
    row = {"dataset": "lastfm", "method": "tree and report, taste bins", "ndcg": 0.3, "folds": 5, "seeds": 3}
    assert check_popularity(compared, [row])[0].decided is decided


@pytest.mark.parametrize(("share", "users", "decided"), [(80.0, 20_000, True), (74.0, 200, False), (74.0, 20_000, True)])
def test_a_share_of_some_users_near_the_limit_decides_nothing(share, users, decided):
    """The limit is 5 points from the paper's 80; the standard error of a share of 74 % among 200 users is 3.1 points."""
    rows = [
        {
            "dataset": "lastfm",
            "profile": "full",
            "control": control,
            "negative_percent": 30.0 if control else share,
            "paper_negative_percent": 80.0,
            "users": users,
        }
        for control in (False, True)
    ]
    assert check_profile(rows, "full", sampled=True).decided is decided
    assert check_profile(rows, "full").decided is True
