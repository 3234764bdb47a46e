"""Are hidden contacts found among recommended users? people.json, .md and .png.

The order of a dataset's file follows its contacts, so users are shuffled before each run.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from privact.experiments.experiment import Task
from privact.experiments.people.hidden_contacts import HiddenContacts, hide_contacts
from privact.experiments.people.methods import (
    FACTORS,
    GROUPS,
    MOST_CONNECTED,
    ROUNDS,
    Method,
    Tastes,
    list_fixed,
    list_round,
    list_series,
)
from privact.experiments.report.recommendation_rows import ROW
from privact.experiments.running.kept_parts import KeptParts
from privact.experiments.running.networks import shuffle_users
from privact.network.graph import ContactGraph
from privact.recommend.data.ratings import Ratings
from privact.recommend.taste_groups import find_taste_groups

__all__ = ["EPSILONS", "MEASURES", "measure", "measure_lists", "summarize"]

EPSILONS = (1.0, 2.0, 4.0)
"""The promises per edge, over all rounds together."""

MEASURES = ("ndcg", "map", "recall_20", "recall_100")
Runs = dict[float | None, list[list[dict[str, Any]]]]
Kind = Literal["fixed", "round", "series"]
_VERSIONS: dict[Kind, int] = {"fixed": 2, "round": 2, "series": 3}  # of what a part holds


def measure(task: Task) -> dict[str, Any]:
    """All lists on every network; quick: lastfm at epsilon 1 only."""
    rated = task.names(quick=("lastfm",))
    names = rated if task.quick else [*rated, *task.networks.unrated]
    seeds = task.options["seeds"]
    epsilons = EPSILONS[:1] if task.quick else EPSILONS
    kinds: list[tuple[Kind, float | None]] = [("fixed", None), *(("round", each) for each in epsilons)]
    kinds += [("series", each) for each in epsilons]
    task.networks.require_ratings(rated)
    kept = {kind: KeptParts(task.parts, version) for kind, version in _VERSIONS.items()}
    rows: list[dict[str, Any]] = []
    done, total = 0, len(names) * len(kinds) * seeds
    for name in names:
        network = task.networks.rated(name) if name in rated else None
        graph = network.graph if network is not None else task.networks.graph(name)
        ratings = network.ratings if network is not None else None
        runs: Runs = {epsilon: [[] for _ in range(seeds)] for epsilon in (None, *epsilons)}
        for kind, epsilon in kinds:
            for seed in range(seeds):
                task.progress(f"{name}: {'no reports' if epsilon is None else f'{kind}, epsilon {epsilon:g}'}", done, total)
                described = {"experiment": f"people, {kind}", "dataset": name, "data": task.networks.content(name), "seed": seed}
                described |= {"epsilon": epsilon, "groups": [GROUPS, FACTORS], "rounds": ROUNDS}
                run = partial(_measure_part, graph, ratings, kind, epsilon, seed)
                runs[epsilon][seed] += kept[kind].get_or_run(described, run)["lists"]
                done += 1
        rows += summarize(name, runs)
    return {"seeds": seeds, "groups": GROUPS, "rows": rows}


def _measure_part(graph: ContactGraph, ratings: Ratings | None, kind: Kind, epsilon: float | None, seed: int) -> dict[str, Any]:
    return {"lists": measure_lists(graph, ratings, kind, epsilon, seed)}


def measure_lists(
    graph: ContactGraph, ratings: Ratings | None, kind: Kind, epsilon: float | None, seed: int
) -> list[dict[str, Any]]:
    """How good each list of a kind is in one run. epsilon: of the reports; None for the lists that see none."""
    rng = np.random.default_rng([seed, 0])
    mixed = shuffle_users(graph, rng.permutation(graph.n_users))
    split = hide_contacts(mixed, rng)
    if kind == "series" and epsilon is not None:
        return _judge(split, list_series(split, epsilon, seed))
    tastes = None
    if ratings is not None:
        ordered = ratings.for_users(tuple(map(str, mixed.users)))
        tastes = Tastes(find_taste_groups(ordered, GROUPS, rng, FACTORS).labels, ordered)
    return _judge(split, list_fixed(split, tastes, seed) if epsilon is None else list_round(split, tastes, epsilon, seed))


def _judge(split: HiddenContacts, lists: Iterator[tuple[Method, NDArray[np.int64]]]) -> list[dict[str, Any]]:
    return [{**method._asdict(), **split.judge(ranked)} for method, ranked in lists]


def summarize(dataset: str, runs: Runs) -> list[dict[str, Any]]:
    """One row a list and epsilon: means over runs, and NDCG over that of the most connected users by as many rounds.

    Lists that see no report are compared with the most connected users by one round of the first epsilon.
    """
    first = next(epsilon for epsilon in runs if epsilon is not None)
    rows = []
    for epsilon, found in runs.items():
        for place, described in enumerate(found[0]):
            method = Method(*(described[name] for name in Method._fields))
            mine = [run[place] for run in found]
            reference = _take_most_connected(runs[first if epsilon is None else epsilon], max(method.rounds, 1))
            ratios = [each["ndcg"] / other for each, other in zip(mine, reference, strict=True)]
            rows.append(
                {
                    **dict.fromkeys(ROW),
                    "dataset": dataset,
                    "scenario": "people",
                    "method": method.name,
                    "rounds": method.rounds,
                    "epsilon": epsilon,
                    "private": method.private,
                    "control": method.name if method.control else None,
                    "seeds": len(found),
                    **{name: float(np.mean([each[name] for each in mine])) for name in MEASURES},
                    **{f"{name}_sd": _spread([each[name] for each in mine]) for name in MEASURES},
                    "ratio": float(np.mean([each["ndcg"] for each in mine]) / np.mean(reference)),
                    "ratio_runs": ratios,
                }
            )
    return rows


def _take_most_connected(found: list[list[dict[str, Any]]], rounds: int) -> list[float]:
    """NDCG of the most connected users in each run."""
    return [next(each["ndcg"] for each in run if (each["name"], each["rounds"]) == (MOST_CONNECTED, rounds)) for run in found]


def _spread(runs: list[float]) -> float:
    return float(np.std(runs, ddof=1)) if len(runs) > 1 else 0.0
