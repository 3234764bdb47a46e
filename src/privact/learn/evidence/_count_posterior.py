"""Tables of what one report value and one rate say about a count, and the kernels that read them for many users."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import betainc, gammaln, pdtr

from privact.tree.embedding import GRID

FloatArray = NDArray[np.float64]

REACH = 30.0
"""Noise beyond REACH / epsilon is taken for impossible: its chance is about e^-30."""

DENSE = 1024
"""Up to this count every threshold may stand alone."""


class CountTable(NamedTuple):
    """What report value r (rows) and rate g (columns) say about the count in a bin.

    likelihood: (R, G) log probability of the report.
    mean, variance: (R, G) of the count.
    edges: (T + 1) counts between which thresholds are pooled.
    below: (R, G, T) mean of P(count <= t) over the thresholds edges[i] <= t < edges[i + 1].
    """

    likelihood: FloatArray
    mean: FloatArray
    variance: FloatArray
    edges: FloatArray
    below: FloatArray


def log_law(counts: FloatArray, rates: FloatArray, shape: float) -> FloatArray:
    """(C, G) log probability of each count at each rate: Poisson, or negative binomial of the same mean."""
    c = counts[:, None]
    if np.isinf(shape):
        return np.asarray(c * np.log(rates) - rates - gammaln(c + 1.0))
    spread = gammaln(c + shape) - gammaln(shape) - gammaln(c + 1.0)
    return np.asarray(spread + shape * np.log(shape / (shape + rates)) + c * np.log(rates / (shape + rates)))


def _window(level: int, epsilon: float) -> FloatArray:
    """The counts that a report value leaves possible."""
    reach = int(np.ceil(REACH / epsilon))
    return np.arange(max(0, level - reach), max(0, level) + reach + 1, dtype=np.float64)


def _noise(level: int, counts: FloatArray, epsilon: float) -> FloatArray:
    """(C, 1) log probability of discrete Laplace noise that makes each count the report value."""
    return np.asarray(np.log(np.tanh(epsilon / 2.0)) - epsilon * np.abs(level - counts))[:, None]


def _joint(level: int, rates: FloatArray, shape: float, epsilon: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Counts, their probability given report value and rate (C, G), and the log probability of the report (G)."""
    counts = _window(level, epsilon)
    joint = log_law(counts, rates, shape) + _noise(level, counts, epsilon)
    peak = joint.max(axis=0)
    joint = np.exp(joint - peak)
    total = joint.sum(axis=0)
    return counts, joint / total, peak + np.log(total)


def likelihood_table(levels: NDArray[np.int64], rates: FloatArray, shape: float, epsilon: float) -> FloatArray:
    """(R, G) log probability of each report value at each rate."""
    return np.array([_joint(int(level), rates, shape, epsilon)[2] for level in levels])


def count_table(
    levels: NDArray[np.int64], rates: FloatArray, shape: float, epsilon: float, prior: FloatArray, room: int
) -> CountTable:
    """The whole table of one bin, with at most `room` thresholds."""
    edges = _edges(int(levels[-1]), rates, shape, epsilon, prior, room)
    size = len(levels), len(rates)
    table = CountTable(np.empty(size), np.empty(size), np.empty(size), edges, np.empty((*size, len(edges) - 1)))
    for row, level in enumerate(levels):
        counts, law, table.likelihood[row] = _joint(int(level), rates, shape, epsilon)
        table.mean[row] = counts @ law
        table.variance[row] = np.maximum(counts**2 @ law - table.mean[row] ** 2, 0.0)
        # sums[i] is the sum of P(count <= t) over t below counts[0] + i; past the window each t adds one.
        sums = np.vstack([np.zeros(len(rates)), np.cumsum(np.cumsum(law, axis=0), axis=0)])
        place = edges - counts[0]
        inside = np.clip(place, 0, len(counts)).astype(np.int64)
        upto = sums[inside] + np.maximum(place - len(counts), 0.0)[:, None]
        table.below[row] = (np.diff(upto, axis=0) / np.diff(edges)[:, None]).T
    return table


def _edges(highest: int, rates: FloatArray, shape: float, epsilon: float, prior: FloatArray, room: int) -> FloatArray:
    """Where thresholds are pooled: every count where users differ most, wider and wider in the tail."""
    top = max(highest, 1) + int(np.ceil(8.0 / epsilon)) + 2
    counts = np.arange(min(top, DENSE), dtype=np.float64)
    if top > DENSE:
        steps = int(np.ceil(64.0 * np.log(top / DENSE))) + 2
        counts = np.unique(np.append(counts, np.round(np.geomspace(DENSE, top, steps))))
    below = np.minimum(_below(counts, rates, shape) @ prior, 1.0)
    spread = below * (1.0 - below)
    middle = int(np.argmax(spread))
    last = min(max(2, int(np.searchsorted(-spread[middle:], -1e-7)) + middle), len(counts) - 1)
    if last <= room:
        return counts[: last + 1]
    mass = np.append(0.0, np.cumsum(np.sqrt(spread[:last]) * np.diff(counts[: last + 1])))
    cuts = np.searchsorted(mass, np.linspace(0.0, mass[-1], room + 1))
    return np.asarray(counts[np.unique(np.clip(cuts, 0, last))])


def _below(counts: FloatArray, rates: FloatArray, shape: float) -> FloatArray:
    """(C, G) probability of at most each count at each rate."""
    if np.isinf(shape):
        return np.asarray(pdtr(counts[:, None], rates))
    return np.asarray(betainc(shape, counts[:, None] + 1.0, shape / (shape + rates)))


@njit(cache=True, inline="always")
def rate_weights(row, table_of, likelihood, log_prior, score, keep, weight):  # type: ignore[no-untyped-def]
    """Posterior weights of the rates that matter for one user; returns how many, their numbers and weights in place."""
    n_rates = log_prior.shape[0]
    peak = -np.inf
    for g in range(n_rates):
        score[g] = log_prior[g]
        for k in range(row.shape[0]):
            score[g] += likelihood[table_of[k], row[k], g]
        peak = max(peak, score[g])
    count = 0
    total = 0.0
    for g in range(n_rates):
        if score[g] > peak - 12.0:
            keep[count] = g
            weight[count] = np.exp(score[g] - peak)
            total += weight[count]
            count += 1
    for i in range(count):
        weight[i] /= total
    return count


@njit(cache=True)
def embed_rows(rows, table_of, likelihood, log_prior, below, counts, points):  # type: ignore[no-untyped-def]
    """points[user] = 1 - 2 P(count <= threshold), on the grid, bin after bin.

    rows: (n, K) table row of each report. counts: (K,) thresholds of each bin.
    """
    n_rates = log_prior.shape[0]
    score = np.empty(n_rates)
    keep = np.empty(n_rates, np.int64)
    weight = np.empty(n_rates)
    line = np.empty(below.shape[3])
    for user in range(rows.shape[0]):
        found = rate_weights(rows[user], table_of, likelihood, log_prior, score, keep, weight)
        at = 0
        for k in range(rows.shape[1]):
            for t in range(counts[k]):
                line[t] = 0.0
            for i in range(found):
                part = below[table_of[k], rows[user, k], keep[i]]
                for t in range(counts[k]):
                    line[t] += weight[i] * part[t]
            for t in range(counts[k]):
                points[user, at + t] = np.rint((1.0 - 2.0 * line[t]) * GRID) / GRID
            at += counts[k]


@njit(cache=True)
def mean_rows(rows, table_of, likelihood, log_prior, means, out):  # type: ignore[no-untyped-def]
    """out[user, k] = posterior mean count."""
    n_rates = log_prior.shape[0]
    score = np.empty(n_rates)
    keep = np.empty(n_rates, np.int64)
    weight = np.empty(n_rates)
    for user in range(rows.shape[0]):
        found = rate_weights(rows[user], table_of, likelihood, log_prior, score, keep, weight)
        for k in range(rows.shape[1]):
            total = 0.0
            for i in range(found):
                total += weight[i] * means[table_of[k], rows[user, k], keep[i]]
            out[user, k] = total
