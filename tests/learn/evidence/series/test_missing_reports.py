"""Users who missed rounds are assigned to the groups that others' reports show."""

from __future__ import annotations

import numpy as np

from privact.learn.evidence.series.group_posterior import infer_groups
from privact.learn.evidence.series.missing_reports import fill_missing
from privact.learn.evidence.series.series_rounds import SeriesRound

N = 200
GROUP = np.arange(N) % 2


def make_rounds() -> list[SeriesRound]:
    """Two rounds without noise to speak of: users of a group have 30 contacts in their own bin and 2 in the other."""
    counts = np.where(GROUP[:, None] == np.arange(2), 30, 2) + np.random.default_rng(1).integers(0, 3, (N, 2))
    return [SeriesRound(counts, GROUP, 8.0), SeriesRound(counts[:, ::-1].copy(), 1 - GROUP, 8.0)]


def test_a_missing_round_is_filled_with_what_the_group_lets_expect() -> None:
    rounds = make_rounds()
    posterior = infer_groups(rounds, (1, 2))
    for missing in (0, 1):
        given = [None if number == missing else each.reports for number, each in enumerate(rounds)]
        filled = fill_missing(posterior, given)
        assert [rows.shape for rows in filled] == [(N, 2), (N, 2)]
        np.testing.assert_array_equal(filled[1 - missing], rounds[1 - missing].reports)
        assert np.abs(filled[missing] - rounds[missing].reports).max() <= 5
        found = posterior.find_likeliest([each._replace(reports=rows) for each, rows in zip(rounds, filled, strict=True)])
        np.testing.assert_array_equal(found, posterior.find_likeliest(rounds))


def test_what_is_not_missing_stays_as_it_is() -> None:
    rounds = make_rounds()
    filled = fill_missing(infer_groups(rounds, (1, 2)), [each.reports for each in rounds])
    for rows, each in zip(filled, rounds, strict=True):
        np.testing.assert_array_equal(rows, each.reports)
