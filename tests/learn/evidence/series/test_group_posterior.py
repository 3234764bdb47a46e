"""Groups of users from several rounds: an inference that found them before is not forgotten."""

from __future__ import annotations

import numpy as np

from privact.learn.evidence.series import group_posterior
from privact.learn.evidence.series.group_posterior import infer_groups
from privact.learn.evidence.series.series_rounds import SeriesRound


def _play_three_groups() -> tuple[np.ndarray, list[SeriesRound]]:
    """Ninety users in three groups, 18 of 20 contacts inside: a round of random bins, then one of the groups."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], 30)
    first = rng.multinomial(20, np.full(4, 0.25), 90)
    second = np.where(group[:, None] == np.arange(3), 18, 1)
    return group, [SeriesRound(first, rng.integers(0, 4, 90), 2.0), SeriesRound(second, group, 2.0)]


def test_groups_that_were_the_bins_are_a_start_where_the_spectral_one_fails(monkeypatch):
    group, rounds = _play_three_groups()
    monkeypatch.setattr(group_posterior, "group_by_means", lambda points, weight, number, rng: np.zeros(len(points), np.int64))
    found = infer_groups(rounds, (1, 3)).find_likeliest(rounds)
    assert len(set(zip(group, found, strict=True))) == 3
    assert len(np.unique(found)) == 3


def test_users_without_a_bin_start_in_any_group():
    group, rounds = _play_three_groups()
    unknown = group.copy()
    unknown[::10] = -1
    found = infer_groups([rounds[0], rounds[1]._replace(bins=unknown)], (1, 3)).find_likeliest(rounds)
    assert len(set(zip(group, found, strict=True))) == 3
