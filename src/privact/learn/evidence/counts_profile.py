"""Profile "counts": users by how many contacts they have in each bin, as in the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from privact.learn.evidence.count_posterior import CountPosterior
from privact.learn.evidence.profile import Evidence, Profile, RoundReports, only_round
from privact.learn.limits import Limits
from privact.tree.embedding import Thresholds, thresholds_for

__all__ = ["COUNTS"]

_NAME = "counts"


def _fit(rounds: Sequence[RoundReports], denoise: bool, limits: Limits) -> Evidence:
    round = only_round(_NAME, rounds)
    reports = round.table.matrix
    if round.epsilon_report is None or not denoise:
        return Evidence(_NAME, Thresholds.of(reports, thresholds_for(len(reports))), None)
    posterior = CountPosterior.fit(reports, round.epsilon_report, equal_bins=round.equal_bins, limits=limits)
    return Evidence(_NAME, posterior, posterior)


def _describe(evidence: Evidence) -> dict[str, Any]:
    if evidence.posterior is not None:
        return {"posterior": evidence.posterior.to_json()}
    assert isinstance(evidence.embedder, Thresholds)
    return {"thresholds": [{"lower": lower.tolist(), "width": width.tolist()} for lower, width in evidence.embedder]}


def _restore(facts: Mapping[str, Any]) -> Evidence:
    if "posterior" in facts:
        posterior = CountPosterior.from_json(facts["posterior"])
        return Evidence(_NAME, posterior, posterior)
    lower, width = (tuple(np.array(each[name]) for each in facts["thresholds"]) for name in ("lower", "width"))
    return Evidence(_NAME, Thresholds(lower, width), None)


COUNTS = Profile(_fit, _describe, _restore)
