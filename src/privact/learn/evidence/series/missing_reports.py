"""Users who missed some rounds of a series: their reports to the others, filled in with what their groups let expect.

Groups are inferred from users who answered every round. Those who answered only some of the rounds are assigned to these groups
by the rounds that they answered; the expected counts of their likely groups stand for the missing reports.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.learn.evidence.series.group_posterior import GroupPosterior
from privact.learn.evidence.series.series_rounds import SeriesRound, combine_totals

__all__ = ["fill_missing"]


def fill_missing(posterior: GroupPosterior, reports: Sequence[NDArray[np.integer[Any]] | None]) -> list[NDArray[np.int64]]:
    """The reports of some users to every round, those that are missing filled in.

    posterior: inferred from users who answered every round.
    reports: of each round (q, K) noisy counts of the same users, or None if these users did not answer it; at least one is given.
    """
    answered = [number for number, each in enumerate(reports) if each is not None]
    ends = np.cumsum((0, *posterior.widths))
    columns = np.concatenate([np.arange(ends[number], ends[number + 1]) for number in answered])
    given = [SeriesRound(np.asarray(reports[number]), None, posterior.round_epsilons[number]) for number in answered]
    seen = replace(
        posterior,
        round_epsilons=tuple(posterior.round_epsilons[number] for number in answered),
        widths=tuple(posterior.widths[number] for number in answered),
        everybody=posterior.everybody[columns],
    )
    contacts = posterior.numbers.expect(combine_totals(given))
    groups = posterior.finer._replace(profile=posterior.finer.profile[:, columns])
    member = seen.memberships(np.hstack([each.reports for each in given]), contacts, groups)
    expected = np.rint(contacts[:, None] * (member @ posterior.finer.profile)).astype(np.int64)
    return [
        expected[:, ends[number] : ends[number + 1]] if each is None else np.asarray(each, dtype=np.int64)
        for number, each in enumerate(reports)
    ]
