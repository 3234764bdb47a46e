"""Cold start (the paper's Table 3): recommendations for users without ratings, beside every control."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from privact.errors import InputError
from privact.experiments.cold_start_methods import BEST, BROAD, GROUPS, METHODS, ColdStartRun
from privact.experiments.kept_parts import Cells
from privact.experiments.rated_network import NORMALISATION, RatedNetwork, load_rated, rated_content, require_rated
from privact.experiments.recommend_rows import Row, refuse_without_controls, row
from privact.experiments.significance import paired_p_value
from privact.progress import Tell
from privact.recommend.data.metrics import CUTOFF, score
from privact.recommend.data.splits import FOLDS, Split, user_splits
from privact.recommend.recommender import Recommender

__all__ = ["AGAINST", "PAPER", "TARGETS", "Plan", "Tell", "measure_cold_start"]


PAPER: dict[str, dict[str, tuple[float, float]]] = {
    "lastfm": {"itemAvg": (5.33e-4, 2.56e-5), "friendsCF": (0.158, 0.0403), "PrivaCT-CF": (0.0621, 0.00863)},
    "delicious": {"itemAvg": (8.80e-4, 7.18e-5), "friendsCF": (0.0067, 0.0008), "PrivaCT-CF": (9.00e-4, 6.59e-5)},
    "douban": {"itemAvg": (2.00e-4, 1.46e-5), "friendsCF": (0.0749, 0.0187), "PrivaCT-CF": (0.0780, 0.0200)},
}
"""NDCG and MAP of the paper's Table 3."""

TARGETS = {"lastfm": 1.15, "delicious": 1.05, "douban": 1.01}
"""How many times the NDCG of popularity a private recommender should reach at epsilon 1."""

AGAINST = ("most popular", "most popular, users even")
"""What our recommender is tested against, user by user: neither knows a contact."""

_SPLIT_SEED = 7
_VERSION = 5  # of what a cell holds


@dataclass(frozen=True)
class Plan:
    """What to measure.

    networks: lastfm, delicious, douban, or some of them.
    epsilon: the promise per edge.
    folds: how many of the five folds over users are judged.
    seeds: how many seeds of bins, noise and trees.
    """

    networks: Sequence[str] = tuple(PAPER)
    epsilon: float = 1.0
    folds: int = FOLDS
    seeds: int = 3

    def __post_init__(self) -> None:
        """Refuse what cannot be measured."""
        unknown = [name for name in self.networks if name not in NORMALISATION]
        if unknown or not self.networks:
            raise InputError(f"network {(unknown or [''])[0]!r} is unknown: choose among {', '.join(NORMALISATION)}")
        if not 1 <= self.folds <= FOLDS:
            raise InputError(f"folds = {self.folds} cannot be: choose from 1 to {FOLDS}")
        if self.seeds < 1:
            raise InputError(f"seeds = {self.seeds} cannot be: choose at least 1")


QUICK = Plan(folds=1, seeds=1)
"""A look at everything in about a minute."""


def measure_cold_start(plan: Plan, data: str | None, folder: Path | None, tell: Tell) -> dict[str, Any]:
    """Every method on every fold with every seed.

    data: folder of the datasets. folder: where finished cells are kept, None for nowhere. tell: progress.

    Returns `rows`, `comparisons` (our recommender against each of AGAINST, a paired test over users) and `chosen` settings.
    """
    require_rated(plan.networks, data)
    cells = Cells(folder, _VERSION)
    total = len(plan.networks) * plan.folds * (plan.seeds + 1)
    done = 0
    rows: list[Row] = []
    comparisons: list[dict[str, Any]] = []
    chosen: dict[str, dict[str, Any]] = {}
    for name in plan.networks:
        tell(f"cold start: reading {name}", done, total)
        runs: dict[str, list[dict[str, Any]]] = {method.name: [] for method in METHODS}
        chosen[name] = {}
        for settings, run in _cells(name, plan, data):
            found = cells.get_or_run(settings, run)
            done += 1
            tell("cold start", done, total)
            for method, scores in found["methods"].items():
                runs[method].append({**scores, "fold": settings["fold"]})
            chosen[name].update(
                {f"fold {settings['fold']}, seed {settings['seed']}": value for value in found["chosen"].values()}
            )
        rows += [_row(name, method.name, runs[method.name], plan) for method in METHODS]
        comparisons += [_comparison(name, against, runs) for against in AGAINST]
    return {
        "epsilon": plan.epsilon,
        "k": CUTOFF,
        "rows": refuse_without_controls(rows),
        "comparisons": comparisons,
        "chosen": chosen,
    }


def _cells(name: str, plan: Plan, data: str | None) -> Iterator[tuple[dict[str, Any], Callable[[], dict[str, Any]]]]:
    """The settings of each part and how to compute it; the network is read when the first part is computed."""
    held: dict[str, Any] = {}

    def splits() -> list[Split]:
        if not held:
            held["network"] = load_rated(name, data)
            held["splits"] = list(user_splits(held["network"].ratings, np.random.default_rng(_SPLIT_SEED)))
        return list(held["splits"])

    content = rated_content(name, data)
    for fold in range(plan.folds):
        for seed in (None, *range(plan.seeds)):
            settings = {"experiment": "cold start", "dataset": name, "data": content, "fold": fold, "seed": seed}
            settings |= {"epsilon": plan.epsilon, "taste": [GROUPS, BROAD]}

            def run(fold: int = fold, seed: int | None = seed) -> dict[str, Any]:
                split = splits()[fold]
                return _measure(held["network"], split, seed, plan.epsilon)

            yield settings, run


def _measure(network: RatedNetwork, split: Split, seed: int | None, epsilon: float) -> dict[str, Any]:
    """One cell: the methods that no seed changes, or those that one does."""
    run = ColdStartRun(network, split, seed or 0, epsilon)
    methods: Iterator[tuple[str, Recommender]] = run.fixed() if seed is None else run.seeded()
    found = {}
    for name, recommender in methods:
        scores = score(recommender.rank(split.users, CUTOFF), split.relevant)
        found[name] = {"ndcg": scores.mean_ndcg, "map": scores.mean_average_precision}
        if name in (BEST, *AGAINST):
            found[name]["users"] = [round(value, 6) for value in scores.ndcg.tolist()]  # type: ignore[assignment]
    chosen = {name: {key: _plain(value) for key, value in vars(settings).items()} for name, settings in run.chosen.items()}
    return {"methods": found, "chosen": chosen}


def _plain(number: float) -> float | None:
    """Infinity as JSON has it: null."""
    return None if np.isinf(number) else number


def _row(dataset: str, name: str, runs: list[dict[str, Any]], plan: Plan) -> Row:
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
        paper=PAPER[dataset].get(name) if plan.epsilon == 1.0 or not method.reports else None,
    )


def _comparison(dataset: str, against: str, runs: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """Our recommender against one that knows no contacts, user by user; a user's score is the mean over seeds."""
    ours, others = [], []
    for fold in sorted({run["fold"] for run in runs[BEST]}):
        ours.append(np.mean([run["users"] for run in runs[BEST] if run["fold"] == fold], axis=0))
        others.append(next(run["users"] for run in runs[against] if run["fold"] == fold))
    first, second = np.concatenate(ours), np.concatenate(others)
    return {
        "dataset": dataset,
        "method": BEST,
        "against": against,
        "users": len(first),
        "ratio": float(np.mean([run["ndcg"] for run in runs[BEST]]) / np.mean([run["ndcg"] for run in runs[against]])),
        "p_value": paired_p_value(first - second, np.random.default_rng(0)),
    }
