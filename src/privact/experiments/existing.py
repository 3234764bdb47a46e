"""Existing users: the paper's Table 4 (SERec) beside the model as published, strong models without contacts, and controls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from privact.errors import InputError
from privact.experiments.existing_methods import ALONE, EPSILON, METHODS, TUNED, ExistingRun, Method
from privact.experiments.existing_page import draw, page, result_4
from privact.experiments.kept_parts import Cells
from privact.experiments.rated_network import load_rated, require_rated
from privact.experiments.recommend_rows import Row, refuse_without_controls, row
from privact.experiments.results import Findings
from privact.experiments.significance import paired_p_value
from privact.progress import Tell
from privact.recommend.data.splits import FOLDS, rating_splits

__all__ = ["FULL", "PAPER", "QUICK", "Scale", "evaluate_existing", "table_4"]


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


def table_4(data: str | None, output: Path | None, quick: bool, tell: Tell) -> Findings:
    """The table of existing users on the paper's networks; lastfm alone, one fold and one seed, if quick.

    data: folder of the datasets. output: where finished parts are kept, in a folder `cells`; None keeps none.
    tell: is told what is running, how much is done, of how much.
    """
    return evaluate_existing(["lastfm"] if quick else list(PAPER), data, output, quick, tell, files="table4")


def evaluate_existing(
    networks: Sequence[str], data: str | None, output: Path | None, quick: bool, tell: Tell, files: str = "existing"
) -> Findings:
    """The same on some of the networks.

    networks: of lastfm, delicious and douban. files: how they are named. Other arguments as in `table_4`.
    """
    unknown = [name for name in networks if name not in PAPER]
    if unknown or not networks:
        raise InputError(f"networks {', '.join(unknown) or 'none'}: choose from {', '.join(PAPER)}")
    require_rated(networks, data)
    cells = Cells(None if output is None else output / "cells", version=2)
    scale = QUICK if quick else FULL
    total = len(list(plan(scale))) * len(networks)
    done = 0
    rows: list[Row] = []
    gains: list[dict[str, Any]] = []
    for name in networks:
        network = load_rated(name, data)
        found: dict[tuple[str, int, int], dict[str, Any]] = {}
        run: ExistingRun | None = None
        splits = rating_splits(network.ratings, np.random.default_rng(0))
        for fold, method, seed in plan(scale):
            tell(f"{name}, fold {fold + 1} of {scale.folds}: {method.name}", done, total)
            if run is None or run.split.fold != fold:
                run = ExistingRun(network, next(splits))
            cell = cells.get_or_run(run.described(method, seed), lambda r=run, m=method, s=seed: r.measure(m, s))  # type: ignore[misc]
            found[method.name, fold, seed] = cell["exposure" if method.by_exposure else "preference"]
            done += 1
        rows += summarize(name, found)
        gains += social_gains(name, found)
    refuse_without_controls(rows)
    document = {"rows": rows, "beyond_implicit_als": gains, "settings": {name: described(name) for name in networks}}
    return Findings(
        files,
        "Existing users: SERec with contacts, with a private tree, and without either",
        document,
        page(rows, gains, quick),
        [result_4(rows)],
        lambda figure: draw(figure, rows),
    )


def plan(scale: Scale) -> Iterator[tuple[int, Method, int]]:
    """Fold, method and seed of every cell, fold by fold."""
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
                paper=None if method.paper is None else PAPER[name][method.paper],
            )
        )
    return rows


def social_gains(name: str, found: dict[tuple[str, int, int], dict[str, Any]]) -> list[dict[str, Any]]:
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


def described(name: str) -> dict[str, Any]:
    """The settings of a dataset, for the JSON file."""
    tuned = TUNED[name]
    return {
        "exposure": tuned.exposure.as_dict(),
        "iterations_alone": ALONE,
        "extra": tuned.extra,
        "ridge": tuned.ridge,
    }
