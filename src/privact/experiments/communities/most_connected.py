"""The control that knows how many contacts users have and no community: everybody is told the users with the most contacts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privact.experiments.running.seeded_trees import random_partition
from privact.learn.evidence.series.contact_numbers import fit_contact_numbers
from privact.learn.evidence.series.series_rounds import SeriesRound, combine_totals
from privact.network.graph import ContactGraph
from privact.protocol.promise import epsilon_per_report
from privact.query.paths import steps_to
from privact.query.quality import MOST_SEARCHED
from privact.simulate.reports import degree_vectors, simulate_reports

__all__ = ["measure_most_connected"]

PAIRS = 200_000
"""Pairs of users that are drawn to estimate how often two contacts are better connected than two others."""


def measure_most_connected(graph: ContactGraph, epsilon: float | None, n_bins: int, seed: int) -> dict[str, float]:
    """The measures of the table, the m most connected users by a round of random bins in the place of the m nearest."""
    rng = np.random.default_rng([seed, n_bins])
    vectors = degree_vectors(graph, random_partition(graph.n_users, n_bins, rng), n_bins)
    report = None if epsilon is None else epsilon_per_report(epsilon)
    played = SeriesRound(simulate_reports(vectors, epsilon, rng), None, report)
    totals = combine_totals([played])
    expected = fit_contact_numbers(totals).expect(totals)
    order = np.argsort(-expected, kind="stable")
    place = np.empty(graph.n_users, np.int64)
    place[order] = np.arange(graph.n_users)

    degree = graph.degrees
    users = np.flatnonzero(degree)
    owner = np.repeat(np.arange(graph.n_users), degree)
    reach = degree + (place < degree)  # one further down where the user is among them, who is left out
    hits = np.bincount(owner[place[graph.indices] < reach[owner]], minlength=graph.n_users)
    searched = users[:: -(-len(users) // MOST_SEARCHED)]
    told = [order[: reach[user]][order[: reach[user]] != user] for user in searched]
    first = np.append(0, np.cumsum([len(each) for each in told]))
    steps = steps_to(graph.indptr, graph.indices, searched, first, np.concatenate(told))
    reached = steps.found > 0
    return {
        "share_of_contacts": float((hits[users] / degree[users]).mean()),
        "share_of_two_hop": float((steps.two / np.diff(first)).mean()),
        "mean_path": float((steps.total[reached] / steps.found[reached]).mean()) if reached.any() else float("nan"),
        "auc": _estimate_auc(graph, expected, rng),
    }


def _estimate_auc(graph: ContactGraph, expected: NDArray[np.float64], rng: np.random.Generator) -> float:
    """How often two contacts have a larger product of contacts than two users drawn at random, ties counted half."""
    edges = graph.edges()
    contacts = np.sort(expected[edges[:, 0]] * expected[edges[:, 1]])
    one, other = rng.integers(0, graph.n_users, (2, PAIRS))
    drawn = (expected[one] * expected[other])[one != other]
    below, upto = (np.searchsorted(contacts, drawn, side) for side in ("left", "right"))
    return float(1.0 - (below + upto).mean() / (2.0 * len(contacts)))
