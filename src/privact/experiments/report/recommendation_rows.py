"""The rows of every table of recommendations, and the rule that none is published without its controls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, get_args

import numpy as np

from privact.errors import InputError

__all__ = ["CONTROLS", "ROW", "Control", "Row", "Scenario", "refuse_without_controls", "row"]

Scenario = Literal["cold start", "existing users"]
Control = Literal["most popular", "random users", "degree only", "random tree"]
Row = dict[str, Any]

CONTROLS: tuple[Control, ...] = get_args(Control)
"""What every table must hold for each dataset: most popular items, m random users in place of N(u), a tree learned from the
number of contacts alone, and a random tree."""

ROW = (
    "dataset", "scenario", "method", "epsilon", "private", "control", "ndcg", "ndcg_sd", "map", "map_sd", "folds", "seeds",
    "paper_ndcg", "paper_map",
)  # fmt: skip
"""The keys of a row."""


def row(
    dataset: str,
    scenario: Scenario,
    method: str,
    *,
    epsilon: float | None,
    private: bool,
    control: Control | None = None,
    ndcg: Sequence[float],
    average_precision: Sequence[float],
    folds: int,
    seeds: int,
    paper: tuple[float, float] | None = None,
) -> Row:
    """One row of a table.

    epsilon: the promise per edge that the method was given, None where it saw no report or exact contacts.
    private: whether contacts stay private: nothing but reports made with epsilon, or no contacts at all, went in.
    control: which control it is, None for a method.
    ndcg, average_precision: means over users, one for each fold and seed; the row has their mean and standard deviation.
    folds, seeds: over how many folds and how many seeds.
    paper: the paper's NDCG and MAP.
    """
    if control is not None and control not in CONTROLS:
        raise InputError(f"control {control!r} is not one of {', '.join(CONTROLS)}: name a known one")
    stated = (None, None) if paper is None else paper
    means = [float(np.mean(runs)) for runs in (ndcg, average_precision)]
    spreads = [float(np.std(runs, ddof=1)) if len(runs) > 1 else 0.0 for runs in (ndcg, average_precision)]
    values = (
        dataset,
        scenario,
        method,
        epsilon,
        private,
        control,
        means[0],
        spreads[0],
        means[1],
        spreads[1],
        folds,
        seeds,
        *stated,
    )
    return dict(zip(ROW, values, strict=True))


def refuse_without_controls(rows: Iterable[Row]) -> list[Row]:
    """The rows, if they may be published: each has exactly the agreed keys, and each dataset and scenario every control."""
    listed = list(rows)
    for each in listed:
        if set(each) != set(ROW):
            odd = sorted(set(each) ^ set(ROW))
            raise InputError(f"a row of {each.get('method')!r} lacks or adds {', '.join(odd)}: make rows with row()")
    for dataset, scenario in dict.fromkeys((each["dataset"], each["scenario"]) for each in listed):
        there = {each["control"] for each in listed if (each["dataset"], each["scenario"]) == (dataset, scenario)}
        missing = [name for name in CONTROLS if name not in there]
        if missing:
            raise InputError(
                f"the table of {dataset}, {scenario}, has no {', '.join(missing)}: run every control, then publish it"
            )
    if not listed:
        raise InputError("the table has no rows: run at least one dataset")
    return listed
