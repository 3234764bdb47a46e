"""What Table 3 measures: recommendations for users without ratings (cold start), beside every control."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from privact.experiments.experiment import Task
from privact.experiments.report.recommendation_rows import Row, refuse_without_controls, row
from privact.experiments.running.kept_parts import KeptParts
from privact.experiments.running.networks import Networks, RatedNetwork
from privact.experiments.running.significance import paired_p_value
from privact.experiments.table3.methods import BEST, METHODS, Choice, ColdStartRun
from privact.experiments.table3.paper import PAPER
from privact.experiments.table3.taste_choice import CANDIDATES
from privact.protocol.round import epsilon_per_report
from privact.recommend.data.metrics import CUTOFF, score
from privact.recommend.data.splits import FOLDS, Split, split_users
from privact.recommend.recommender import Recommender

__all__ = ["AGAINST", "Plan", "measure"]


AGAINST = ("most popular", "most popular, users even")
"""What our recommender is tested against, user by user: neither knows a contact."""


@dataclass(frozen=True)
class Plan:
    """How much is measured.

    epsilon: the promise per edge.
    folds: how many of the five folds over users.
    seeds: how many seeds of bins, noise and trees.
    """

    epsilon: float = 1.0
    folds: int = FOLDS
    seeds: int = 3


_SPLIT_SEED = 7
_VERSION = 7  # of what a part holds


def measure(task: Task) -> dict[str, Any]:
    """Every method on every fold with every seed.

    Returns `rows`, `comparisons` (our recommender against each of AGAINST, a paired test over users) and what was `chosen`.
    """
    plan, names = Plan(**task.options), task.names()
    epsilon_per_report(plan.epsilon)  # refused before anything is read
    task.networks.require_ratings(names)
    parts = KeptParts(task.parts, _VERSION)
    total = len(names) * plan.folds * (plan.seeds + 1)
    done = 0
    rows: list[Row] = []
    comparisons: list[dict[str, Any]] = []
    chosen: dict[str, dict[str, Any]] = {}
    for name in names:
        task.progress(f"cold start: reading {name}", done, total)
        runs: dict[str, list[dict[str, Any]]] = {method.name: [] for method in METHODS}
        chosen[name] = {}
        for settings, run in _list_parts(name, plan, task.networks):
            found = parts.get_or_run(settings, run)
            done += 1
            task.progress("cold start", done, total)
            for method, scores in found["methods"].items():
                runs[method].append({**scores, "fold": settings["fold"]})
            if found["chosen"]:
                chosen[name][f"fold {settings['fold']}, seed {settings['seed']}"] = found["chosen"]
        rows += [_make_row(name, method.name, runs[method.name], plan) for method in METHODS]
        comparisons += [_compare(name, against, runs) for against in AGAINST]
    return {
        "epsilon": plan.epsilon,
        "k": CUTOFF,
        "rows": refuse_without_controls(rows),
        "comparisons": comparisons,
        "chosen": chosen,
    }


def _list_parts(name: str, plan: Plan, networks: Networks) -> Iterator[tuple[dict[str, Any], Callable[[], dict[str, Any]]]]:
    """The settings of each part and how to compute it; the network is read when the first part is computed."""
    held: dict[str, Any] = {}

    def splits() -> list[Split]:
        if not held:
            held["network"] = networks.rated(name)
            held["splits"] = list(split_users(held["network"].ratings, np.random.default_rng(_SPLIT_SEED)))
        return list(held["splits"])

    content = networks.content(name)
    for fold in range(plan.folds):
        for seed in (None, *range(plan.seeds)):
            settings = {"experiment": "cold start", "dataset": name, "data": content, "fold": fold, "seed": seed}
            settings |= {"epsilon": plan.epsilon, "taste": [list(each) for each in CANDIDATES]}

            def run(fold: int = fold, seed: int | None = seed) -> dict[str, Any]:
                split = splits()[fold]
                return _measure_part(held["network"], split, seed, plan.epsilon)

            yield settings, run


def _measure_part(network: RatedNetwork, split: Split, seed: int | None, epsilon: float) -> dict[str, Any]:
    """One part: the methods that no seed changes, or those that one does."""
    run = ColdStartRun(network, split, seed or 0, epsilon)
    methods: Iterator[tuple[str, Recommender]] = run.fixed() if seed is None else run.seeded()
    found = {}
    for name, recommender in methods:
        scores = score(recommender.rank(split.users, CUTOFF), split.relevant)
        found[name] = {"ndcg": scores.mean_ndcg, "map": scores.mean_average_precision}
        if name in (BEST, *AGAINST):
            found[name]["users"] = [round(value, 6) for value in scores.ndcg.tolist()]  # type: ignore[assignment]
    return {"methods": found, "chosen": {name: _describe(choice) for name, choice in run.chosen.items()}}


def _describe(choice: Choice) -> dict[str, Any]:
    """A choice as JSON has it."""
    settings = {key: _plain(value) for key, value in vars(choice.settings).items()}
    return {"groups": choice.taste.n_groups, "factors": choice.taste.factors, **settings}


def _plain(number: float) -> float | None:
    """Infinity as JSON has it: null."""
    return None if np.isinf(number) else number


def _make_row(dataset: str, name: str, runs: list[dict[str, Any]], plan: Plan) -> Row:
    method = next(each for each in METHODS if each.name == name)
    return row(
        dataset,
        "cold start",
        name,
        epsilon=plan.epsilon if method.reports else None,
        private=method.private,
        control=method.control,
        ndcg=[run["ndcg"] for run in runs],
        average_precision=[run["map"] for run in runs],
        folds=plan.folds,
        seeds=plan.seeds if method.seeded else 1,
        paper=PAPER.get(dataset, {}).get(name) if plan.epsilon == 1.0 or not method.reports else None,
    )


def _compare(dataset: str, against: str, runs: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """Our recommender against one that knows no contacts, user by user; a user's score is the mean over seeds."""
    ours, others = [], []
    for fold in sorted({run["fold"] for run in runs[BEST]}):
        ours.append(np.mean([run["users"] for run in runs[BEST] if run["fold"] == fold], axis=0))
        others.append(next(run["users"] for run in runs[against] if run["fold"] == fold))
    first, second = np.concatenate(ours), np.concatenate(others)
    ratio = float(first.mean() / second.mean())
    error = float((first - ratio * second).std(ddof=1) / np.sqrt(len(first)) / second.mean())  # of a ratio of means
    return {
        "dataset": dataset,
        "method": BEST,
        "against": against,
        "users": len(first),
        "ratio": float(np.mean([run["ndcg"] for run in runs[BEST]]) / np.mean([run["ndcg"] for run in runs[against]])),
        "ratio_error": error,
        "p_value": paired_p_value(first - second, np.random.default_rng(0)),
    }
