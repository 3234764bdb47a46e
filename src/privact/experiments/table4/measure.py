"""What Table 4 measures: SERec as the paper ran it and as published, strong models without contacts, and controls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from privact.experiments.experiment import Task
from privact.experiments.report.recommendation_rows import Row, refuse_without_controls, row
from privact.experiments.running.kept_parts import KeptParts
from privact.experiments.running.significance import paired_p_value
from privact.experiments.table4.methods import ALONE, EPSILON, METHODS, TUNED, ExistingRun, Method, Tuned, choose_tuned
from privact.recommend.data.splits import FOLDS, split_ratings

__all__ = ["FULL", "PAPER", "QUICK", "Scale", "measure", "measure_gains", "plan", "summarize"]


PAPER: dict[str, tuple[tuple[float, float], ...]] = {
    "lastfm": ((0.1223, 0.0240), (0.3249, 0.1405), (0.3270, 0.1419)),
    "delicious": ((0.0058, 0.0021), (0.0135, 0.0048), (0.0150, 0.0045)),
    "douban": ((0.0349, 0.0052), (0.2466, 0.0929), (0.2469, 0.0930)),
}
"""NDCG@100 and MAP@100 of Basic SERec, SERec and PrivaCT-SERec in the paper."""


@dataclass(frozen=True)
class Scale:
    """How much of the experiment is run: how many of the five folds, and how many seeds of trees and random users in each."""

    folds: int
    seeds: int


FULL, QUICK = Scale(FOLDS, 3), Scale(1, 1)


def measure(task: Task) -> dict[str, Any]:
    """Every method on every fold; quick: one fold and one seed, of the paper's networks lastfm alone."""
    names = task.names(quick=("lastfm",))
    task.networks.require_ratings(names)
    parts = KeptParts(task.parts, version=2)
    scale = QUICK if task.quick else FULL
    total = len(list(plan(scale))) * len(names)
    done = 0
    rows: list[Row] = []
    gains: list[dict[str, Any]] = []
    settings: dict[str, Any] = {}
    for name in names:
        network = task.networks.rated(name)
        found: dict[tuple[str, int, int], dict[str, Any]] = {}
        run: ExistingRun | None = None
        tuned: Tuned | None = TUNED.get(name)
        splits = split_ratings(network.ratings, np.random.default_rng(0))
        for fold, method, seed in plan(scale):
            task.progress(f"{name}, fold {fold + 1} of {scale.folds}: {method.name}", done, total)
            if run is None or run.split.fold != fold:
                split = next(splits)
                tuned = tuned or choose_tuned(network, split)
                run = ExistingRun(network, split, tuned)
            part = parts.get_or_run(run.described(method, seed), lambda r=run, m=method, s=seed: r.measure(m, s))  # type: ignore[misc]
            found[method.name, fold, seed] = part["exposure" if method.by_exposure else "preference"]
            done += 1
        assert tuned is not None
        settings[name] = _describe(tuned)
        rows += summarize(name, found)
        gains += measure_gains(name, found)
    refuse_without_controls(rows)
    return {"quick": task.quick, "rows": rows, "beyond_implicit_als": gains, "settings": settings}


def plan(scale: Scale) -> Iterator[tuple[int, Method, int]]:
    """Fold, method and seed of every part, fold by fold."""
    for fold in range(scale.folds):
        for method in METHODS:
            for seed in range(scale.seeds if method.seeded else 1):
                yield fold, method, seed


def summarize(name: str, found: dict[tuple[str, int, int], dict[str, Any]]) -> list[Row]:
    """One row a method: mean and standard deviation over its folds and seeds."""
    rows = []
    for method in METHODS:
        mine = {(fold, seed): cell for (told, fold, seed), cell in found.items() if told == method.name}
        rows.append(
            row(
                name,
                "existing users",
                method.name,
                epsilon=EPSILON if method.reports else None,
                private=method.private,
                control=method.control,
                ndcg=[cell["ndcg"] for cell in mine.values()],
                average_precision=[cell["map"] for cell in mine.values()],
                folds=len({fold for fold, _ in mine}),
                seeds=len({seed for _, seed in mine}),
                paper=None if method.paper is None or name not in PAPER else PAPER[name][method.paper],
            )
        )
    return rows


def measure_gains(name: str, found: dict[tuple[str, int, int], dict[str, Any]]) -> list[dict[str, Any]]:
    """What neighbours of each kind add to implicit ALS: ratio of NDCG, and how probable it is by chance, user by user."""
    gains = []
    alone = {fold: np.array(cell["users"]) for (told, fold, _), cell in found.items() if told == "implicit ALS"}
    for method in METHODS:
        if method.model != "factors" or method.near == "nobody":
            continue
        seeds = sorted({seed for told, _, seed in found if told == method.name})
        differences = [
            np.mean([found[method.name, fold, seed]["users"] for seed in seeds], axis=0) - alone[fold] for fold in alone
        ]
        every = np.concatenate(differences)
        gains.append(
            {
                "dataset": name,
                "method": method.name,
                "ratio": float(1.0 + every.mean() / np.concatenate(list(alone.values())).mean()),
                "p_value": paired_p_value(every, np.random.default_rng(0)),
                "weights": [cell["weight"] for (told, _, seed), cell in found.items() if (told, seed) == (method.name, 0)],
            }
        )
    return gains


def _describe(tuned: Tuned) -> dict[str, Any]:
    """The settings of a network, for the JSON file."""
    return {
        "exposure": tuned.exposure.as_dict(),
        "iterations_alone": ALONE,
        "extra": tuned.extra,
        "ridge": tuned.ridge,
    }
