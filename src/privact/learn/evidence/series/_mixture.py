"""Kernels of the mixture model over flat arrays; the plain twins are in mixture_plain.py."""

from __future__ import annotations

import math

import numba
import numpy as np

from privact.learn.evidence.series.report_laws import STEP


@numba.njit(cache=True)
def add_log_likelihood(column, law_of, contacts, profile, table, out):  # type: ignore[no-untyped-def]
    """Add the log-probability of the reports of user u, if in group g, to out[u, g]."""
    n, width = column.shape
    last = table.shape[1] - 2
    root_profile = np.sqrt(profile)
    for u in range(n):
        root_contacts = math.sqrt(contacts[u])
        for c in range(width):
            law, y = law_of[c], column[u, c]
            for g in range(profile.shape[0]):
                place = root_contacts * root_profile[g, c] / STEP - 0.5
                row = min(max(int(place), 0), last)
                part = min(max(place - row, 0.0), 1.0)
                low = table[law, row, y]
                out[u, g] += low + part * (table[law, row + 1, y] - low)


@numba.njit(cache=True)
def add_profile_statistics(column, law_of, contacts, profile, table, information, membership, score, fisher):  # type: ignore[no-untyped-def]
    """Add each user's score and Fisher information about the profile of each group, weighted by membership."""
    n, width = column.shape
    last = table.shape[1] - 2
    root_profile = np.sqrt(profile)
    for u in range(n):
        d = contacts[u]
        root_contacts = math.sqrt(d)
        for g in range(profile.shape[0]):
            weight = membership[u, g]
            if weight < 1e-3:
                continue
            for c in range(width):
                law, y = law_of[c], column[u, c]
                root = root_contacts * root_profile[g, c]
                place = root / STEP - 0.5
                row = min(max(int(place), 0), last)
                part = min(max(place - row, 0.0), 1.0)
                slope = (table[law, row + 1, y] - table[law, row, y]) / (2.0 * STEP * max(root, STEP / 2.0))
                inside = information[law, row] + part * (information[law, row + 1] - information[law, row])
                score[g, c] += weight * d * slope
                fisher[g, c] += weight * d * d * inside
