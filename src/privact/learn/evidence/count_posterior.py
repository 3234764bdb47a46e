"""What the reports say about the true counts. Post-processing: it reads nothing but reports and costs no privacy.

Model: a user has a rate, the number of contacts to expect in all; the count in bin k is Poisson with that rate times the
bin's share of all contacts (or negative binomial, where bins are labels and contacts bunch in few of them); the report is
the count plus discrete Laplace noise. How rates are spread over users is estimated from the reports alone, by expectation
maximisation over a grid of rates, with no assumption on its shape.

Dasgupta's cost is linear in the dissimilarities, so the tree with the best expected cost given the reports is the one that
maximises the cost under the posterior expected dissimilarity E|X - Y|. That is an `Embedding` whose points are the posterior
distribution functions P(count <= t).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privact.errors import InputError
from privact.learn.evidence._count_posterior import REACH, CountTable, count_table, likelihood_table
from privact.learn.evidence.report_summary import summarise_reports
from privact.learn.limits import LIMITS, Limits
from privact.tree.embedding import Embedding, Thresholds, as_vectors, thresholds_for

RATES = 64
THRESHOLDS = 36
"""The most thresholds a bin has: posteriors are smooth, and more gain nothing."""

LIKELY = 24
"""How many rates, the likeliest of a user, the interval of the degree is computed from."""

SHAPES = (np.inf, 8.0, 2.0, 0.5)
"""How contacts may bunch: the shape of the negative binomial; infinite is Poisson."""


@dataclass(frozen=True, eq=False)
class DegreeEstimate:
    """What a report says about how many contacts a user has.

    mean: the posterior expectation. low, high: ends of the interval that holds the degree with the asked probability.
    """

    mean: NDArray[np.float64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CountPosterior:
    """The law of true counts given a report, learned from many reports.

    epsilon_report: the privacy parameter each report was made with.
    rates: (G,) grid of the number of contacts to expect of a user.
    prior: (G,) share of users at each rate.
    shares: (K,) share of all contacts that fall in each bin.
    shape: of the negative binomial of a count around its rate; infinite for Poisson.
    levels: (R,) report values that have a row in the tables; others take the nearest.
    tables: what a report value and a rate say about the count, one table per distinct share.
    table_of: (K,) which table a bin uses.
    room: the most thresholds of a bin.
    """

    epsilon_report: float
    rates: NDArray[np.float64]
    prior: NDArray[np.float64]
    shares: NDArray[np.float64]
    shape: float
    levels: NDArray[np.int64]
    tables: tuple[CountTable, ...]
    table_of: NDArray[np.int64]
    room: int

    @classmethod
    def fit(
        cls,
        reports: ArrayLike,
        epsilon_report: float,
        *,
        equal_bins: bool = False,
        max_thresholds: int | None = None,
        limits: Limits = LIMITS,
    ) -> CountPosterior:
        """Estimate how counts are spread, from the reports of a whole round.

        reports: (n, K) noisy integer counts.
        epsilon_report: the privacy parameter of each report (half the promise per edge).
        equal_bins: bins were drawn at random, so that each holds the same share of contacts and counts are Poisson.
        max_thresholds: how many coordinates embeddings may have; by default as many as memory allows for n users.
        limits: how many users the distribution of rates is estimated from.
        """
        from threadpoolctl import threadpool_limits

        noisy = _whole_numbers(reports, fewest=2)
        if not 0.0 < epsilon_report < np.inf:
            raise InputError(f"epsilon_report {epsilon_report!r} is not a number above 0: give half the promise per edge")
        n, n_bins = noisy.shape
        seen = summarise_reports(noisy, int(np.ceil(REACH / epsilon_report)), limits.posterior_sample)
        levels = _levels(seen.lowest, seen.highest)
        shares = np.full(n_bins, 1.0 / n_bins) if equal_bins else _shares(seen.means)
        distinct, table_of = np.unique(np.round(shares, 6), return_inverse=True)
        rates = _rates(seen.largest_total, epsilon_report)
        rows = _rows(seen.sample, levels)

        best = -np.inf
        for shape in SHAPES[:1] if equal_bins or n_bins == 1 else SHAPES:
            likelihood = np.array([likelihood_table(levels, rates * share, shape, epsilon_report) for share in distinct])
            evidence = sum(likelihood[table_of[k], rows[:, k]] for k in range(n_bins))
            with threadpool_limits(1, "blas"):  # last bits must not depend on how many cores share a sum
                candidate, fit = _spread(np.asarray(evidence))
            if fit > best:
                best, prior, chosen = fit, candidate, shape
        room = max(2, min(THRESHOLDS, (thresholds_for(n) if max_thresholds is None else max_thresholds) // n_bins))
        return cls._with_tables(float(epsilon_report), rates, prior, shares, chosen, levels, room)

    @classmethod
    def _with_tables(
        cls,
        epsilon_report: float,
        rates: NDArray[np.float64],
        prior: NDArray[np.float64],
        shares: NDArray[np.float64],
        shape: float,
        levels: NDArray[np.int64],
        room: int,
    ) -> CountPosterior:
        """The posterior with its tables, which everything else decides."""
        distinct, table_of = np.unique(np.round(shares, 6), return_inverse=True)
        tables = tuple(count_table(levels, rates * share, shape, epsilon_report, prior, room) for share in distinct)
        return cls(epsilon_report, rates, prior, shares, shape, levels, tables, table_of, room)

    def to_json(self) -> dict[str, Any]:
        """What was estimated, as JSON values; `from_json` computes the tables again. A shape of None is Poisson."""
        return {
            "epsilon_report": self.epsilon_report,
            "rates": self.rates.tolist(),
            "prior": self.prior.tolist(),
            "shares": self.shares.tolist(),
            "shape": None if np.isinf(self.shape) else self.shape,
            "levels": self.levels.tolist(),
            "room": self.room,
        }

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> CountPosterior:
        """The posterior that `to_json` described, number for number."""
        rates, prior, shares = (np.array(facts[name], np.float64) for name in ("rates", "prior", "shares"))
        shape = np.inf if facts["shape"] is None else float(facts["shape"])
        levels = np.array(facts["levels"], np.int64)
        return cls._with_tables(float(facts["epsilon_report"]), rates, prior, shares, shape, levels, int(facts["room"]))

    @property
    def thresholds(self) -> Thresholds:
        """The thresholds of each bin."""
        tables = [self.tables[i] for i in self.table_of]
        return Thresholds(tuple(t.edges[:-1] for t in tables), tuple(np.diff(t.edges) for t in tables))

    def embed(self, reports: ArrayLike) -> Embedding:
        """Each user's posterior distribution functions as points; dissimilarity is the posterior expected L1 distance."""
        from privact.learn.evidence._count_posterior import embed_rows

        rows = self._checked_rows(reports)
        weights = np.concatenate(self.thresholds.width) / 2.0
        points = np.empty((len(rows), len(weights)), np.float32)
        width = max(table.below.shape[2] for table in self.tables)
        below = np.zeros((len(self.tables), len(self.levels), len(self.rates), width))
        for i, table in enumerate(self.tables):
            below[i, :, :, : table.below.shape[2]] = table.below
        counts = np.array([self.tables[i].below.shape[2] for i in self.table_of])
        embed_rows(rows, self.table_of, self._evidence, np.log(self.prior), below, counts, points)
        return Embedding(points, weights, float(weights.sum()))

    def counts(self, reports: ArrayLike) -> NDArray[np.float64]:
        """(n, K) the posterior expectation of each count."""
        from privact.learn.evidence._count_posterior import mean_rows

        rows = self._checked_rows(reports)
        means = np.array([table.mean for table in self.tables])
        out = np.empty(rows.shape)
        mean_rows(rows, self.table_of, self._evidence, np.log(self.prior), means, out)
        return out

    def degrees(self, reports: ArrayLike, probability: float = 0.9) -> DegreeEstimate:
        """The degree of each user: posterior mean, and an interval that holds it with the given probability."""
        from scipy.special import gammainc

        if not 0.0 < probability < 1.0:
            raise InputError(f"probability {probability!r} is not between 0 and 1: 0.9 is usual")
        rows = self._checked_rows(reports)
        mean, low, high = np.empty(len(rows)), np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
        for first in range(0, len(rows), 4096):
            part = rows[first : first + 4096]
            weight = self._weights(part)
            centre = sum(self.tables[i].mean[part[:, k]] for k, i in enumerate(self.table_of))
            spread = sum(self.tables[i].variance[part[:, k]] for k, i in enumerate(self.table_of))
            centre, spread = np.maximum(centre, 1e-9), np.maximum(spread, 1e-12)
            span = slice(first, first + len(part))
            mean[span] = (weight * centre).sum(axis=1)
            likely = np.argpartition(weight, -LIKELY, axis=1)[:, -LIKELY:]
            weight, centre, spread = (np.take_along_axis(part, likely, axis=1) for part in (weight, centre, spread))
            weight = weight / weight.sum(axis=1, keepdims=True)

            def below(degree: NDArray[np.int64], c=centre, s=spread, w=weight) -> NDArray[np.float64]:  # type: ignore[no-untyped-def]
                # Given its rate, a sum of counts is close to a gamma variable of the same mean and variance.
                return np.asarray((w * gammainc(c * c / s, (degree[:, None] + 0.5) * c / s)).sum(axis=1))

            top = int(np.ceil(centre.max() + 12.0 * np.sqrt(spread.max()))) + 2
            low[span] = _first(below, (1.0 - probability) / 2.0, len(part), top)
            high[span] = _first(below, (1.0 + probability) / 2.0, len(part), top)
        return DegreeEstimate(mean, low, high)

    @property
    def _evidence(self) -> NDArray[np.float64]:
        return np.array([table.likelihood for table in self.tables])

    def _weights(self, rows: NDArray[np.int32]) -> NDArray[np.float64]:
        """(users, G) posterior probability of each rate."""
        score = np.log(self.prior) + sum(self.tables[i].likelihood[rows[:, k]] for k, i in enumerate(self.table_of))
        weight = np.exp(score - score.max(axis=1, keepdims=True))
        return np.asarray(weight / weight.sum(axis=1, keepdims=True))

    def _checked_rows(self, reports: ArrayLike) -> NDArray[np.int32]:
        noisy = _whole_numbers(reports, fewest=1)
        if noisy.shape[1] != len(self.shares):
            raise InputError(f"reports have {noisy.shape[1]} bins, not the {len(self.shares)} learned: use the same round")
        return _rows(noisy, self.levels)


def as_reports(reports: ArrayLike, fewest: int) -> NDArray[np.int64]:
    """Reports as an (n, K) array of integers, or InputError."""
    return _whole_numbers(reports, fewest).astype(np.int64, copy=False)


def _whole_numbers(reports: ArrayLike, fewest: int) -> NDArray[np.signedinteger[Any]]:
    """As `as_reports`, but integers of any width as they are: they may be memory-mapped."""
    noisy = as_vectors(reports, fewest)
    if noisy.dtype.kind == "f" and (noisy != np.round(noisy)).any():
        raise InputError("reports hold fractions: reports are whole numbers, as devices send them")
    return noisy if noisy.dtype.kind == "i" else noisy.astype(np.int64)


def _levels(low: int, high: int) -> NDArray[np.int64]:
    """Report values worth a row of their own: every one where reports are dense, then steps of 1/32 of the value."""
    high = max(high, low + 1, 1)
    dense = min(high, 512)
    levels = [np.arange(low, dense + 1)]
    if high > dense:
        steps = int(np.ceil(32.0 * np.log(high / dense))) + 1
        levels.append(np.unique(np.round(np.geomspace(dense + 1, high, steps)).astype(np.int64)))
    return np.unique(np.concatenate(levels))


def _rows(reports: NDArray[np.signedinteger[Any]], levels: NDArray[np.int64]) -> NDArray[np.int32]:
    """The row of the level nearest to each report."""
    reports = reports.astype(np.int64, copy=False)
    after = np.clip(np.searchsorted(levels, reports), 1, len(levels) - 1)
    lower = reports - levels[after - 1] <= levels[after] - reports
    return np.asarray(after - lower, dtype=np.int32)


def _shares(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of all contacts in each bin, kept away from zero."""
    means = np.maximum(means, 1e-3)
    return np.asarray(means / means.sum())


def _rates(largest_total: int, epsilon: float) -> NDArray[np.float64]:
    """Rates from nearly none to the largest total that a report shows, each a constant factor above the last."""
    largest = max(float(largest_total), 2.0 / epsilon, 4.0)
    return np.append(0.02, np.geomspace(0.2, 1.1 * largest, RATES - 1))


def _spread(evidence: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Share of users at each rate by expectation maximisation, and the log likelihood per user that it reaches."""
    peak = evidence.max(axis=1, keepdims=True)
    likelihood = np.exp(evidence - peak)
    prior = np.full(evidence.shape[1], 1.0 / evidence.shape[1])
    before = -np.inf
    for _ in range(300):
        total = likelihood @ prior
        fit = float((np.log(total) + peak[:, 0]).mean())
        prior = prior * (likelihood.T @ (1.0 / total)) / len(evidence)
        if fit - before < 1e-6:
            break
        before = fit
    prior = np.maximum(prior, 1e-12)
    return prior / prior.sum(), fit


def _first(below, probability: float, count: int, top: int) -> NDArray[np.int64]:  # type: ignore[no-untyped-def]
    """The first degree of each user up to which the posterior holds at least that probability, by bisection."""
    low, high = np.full(count, -1), np.full(count, top)
    while (high - low > 1).any():
        middle = (low + high) // 2
        enough = below(middle) >= probability
        high, low = np.where(enough, middle, high), np.where(enough, low, middle)
    return high
