"""Exact discrete Laplace noise on a device: degree vector + round -> what may be sent.

An entry x becomes x + k with probability proportional to exp(-epsilon_report |k|), drawn by OpenDP from the operating
system's randomness with exact integer arithmetic. There is no seed. One edge changes one entry of the vector by one (L1
sensitivity 1 whatever the number of bins), and OpenDP's own privacy map is asked, each time a measurement is built,
whether that costs at most epsilon_report.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final, SupportsIndex

from privact.device.degrees import degree_vector
from privact.errors import InputError, ProtocolError
from privact.protocol.labels import LabelTable
from privact.protocol.report import Report
from privact.protocol.round import Round

__all__ = ["SENSITIVITY", "laplace_measurement", "make_report", "randomize"]

SENSITIVITY: Final = 1
"""L1 distance between a user's degree vectors with and without one edge."""


@lru_cache(maxsize=64)
def laplace_measurement(epsilon_report: float, n_bins: int) -> Any:
    """OpenDP's discrete Laplace measurement on n_bins integer counts whose privacy map never exceeds epsilon_report.

    epsilon_report: what one edge may cost in one report.
    n_bins: length of the vectors.
    """
    # OpenDP takes a third of a second to import: only who makes noise pays.
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_laplace
    from opendp.metrics import l1_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    space = vector_domain(atom_domain(T="i64"), n_bins), l1_distance(T="i64")
    scale = SENSITIVITY / epsilon_report
    measurement = make_laplace(*space, scale=scale)
    if measurement.map(SENSITIVITY) > epsilon_report:
        # The quotient was rounded down; the map rounds up. The next larger scale is on the safe side of both.
        measurement = make_laplace(*space, scale=math.nextafter(scale, math.inf))
    if measurement.map(SENSITIVITY) > epsilon_report:
        raise ProtocolError(f"no noise scale keeps one edge within epsilon {epsilon_report!r} per report: choose another epsilon")
    return measurement


def randomize(vector: Iterable[SupportsIndex], round: Round) -> list[int]:
    """The noisy counts that may leave the device: epsilon_report edge-private, integers, possibly negative.

    Every call draws afresh and spends epsilon_report again: call it once per round and keep what it gave.

    vector: n_bins exact counts, as degree_vector gives them.
    round: the round's public parameters.
    """
    entries = list(vector)
    try:
        counts = [operator.index(entry) for entry in entries if not isinstance(entry, bool)]
    except TypeError:
        counts = []
    if len(counts) != len(entries) or len(counts) != round.n_bins:
        raise InputError(
            f"vector begins {entries[:3]!r:.60} and has {len(entries)} entries; round {round.id} takes {round.n_bins} integers"
        )
    noisy: list[int] = laplace_measurement(round.epsilon_report, round.n_bins)(counts)
    return noisy


def make_report(contacts: Iterable[str], round: Round, user: str, labels: LabelTable | None = None) -> Report:
    """Count a user's contacts, randomize once, and bind the result to the round and the user.

    contacts: ids of the user's contacts, in any spelling.
    round: the round's public parameters.
    user: id of the user who answers.
    labels: the round's label table; only for label bins.
    """
    exact = degree_vector(contacts, round, labels, owner=user)
    return Report.bind(round, user, randomize(exact, round))
