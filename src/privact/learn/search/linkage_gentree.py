"""The default search: splits under the balance floor, or without a floor average linkage improved by swaps and regrafts."""

from __future__ import annotations

import numpy as np

from privact.learn.scale.balanced_partition import learn_balanced_in_parts
from privact.learn.scale.partition import PartitionedTree, learn_in_parts
from privact.learn.scale.population import Population
from privact.learn.search._swaps import SearchState, fill
from privact.learn.search.balance import FEW
from privact.learn.search.gentree import run_chain_of
from privact.learn.search.linkage import average_linkage, other_average_linkage
from privact.learn.search.regrafts import polish
from privact.learn.search.search import FoundTree, SearchOptions
from privact.learn.search.search_state import found_tree, hold_points, state_of
from privact.tree.embedding import Embedding

__all__ = ["search_by_default", "search_from_linkage"]


def search_by_default(population: Population, options: SearchOptions) -> FoundTree:
    """Search under the balance floor if there is one, which a few users always keep, and from average linkage otherwise."""
    if options.balance == 0.0 or len(population) <= FEW:
        return search_from_linkage(population, options)
    return FoundTree(
        *learn_balanced_in_parts(
            population, options.balance, options.rng, options.progress, options.engine, options.sweeps, options.limits
        )
    )


def search_from_linkage(population: Population, options: SearchOptions) -> FoundTree:
    """Polish an average linkage tree; with a temperature, run a chain before the polish and keep the better of both.

    Up to `limits.exact_start` users the start is average linkage of all pairs, and the result is never worse than that.
    """
    n, limits = len(population), options.limits
    heated = options.temperature is not None
    if n > limits.exact_start and not heated:
        return FoundTree(*_learn_in_parts(population, options, options.sweeps))
    points = hold_points(population)
    if n <= limits.exact_start:
        options.progress("average linkage", 0, n)
        start = average_linkage(points, limits)
    else:
        start = _learn_in_parts(points, options, 0)[:2]
    state = state_of(points, *start)
    costs = [fill(state)]
    if heated:
        costs += run_chain_of(state, options)
        if costs[-1] < costs[0]:
            state = state_of(points, *start)
    costs += _polish(state, options)
    if n <= limits.both_tie_orders or (n <= limits.exact_start and _mostly_ties(points)):
        other = state_of(points, *other_average_linkage(points))
        trace = [fill(other), *_polish(other, options)]
        if trace[-1] > costs[-1]:
            state, costs = other, trace
    return found_tree(state, costs)


def _learn_in_parts(population: Population, options: SearchOptions, rounds: int | None) -> PartitionedTree:
    return learn_in_parts(population, options.rng, options.progress, options.engine, rounds, options.limits)


def _polish(state: SearchState, options: SearchOptions) -> list[float]:
    rounds = options.sweeps if options.temperature is None else None

    def report(done: int, cost: float) -> None:
        options.progress("polishing", done, done if rounds is None else rounds)

    return polish(state, rounds, report, limits=options.limits)


def _mostly_ties(points: Embedding) -> bool:
    """Whether users have so few different vectors that the order of equal dissimilarities decides much."""
    return points.counts is not None and len(np.unique(points.counts, axis=0)) <= len(points) // 4
