"""From reports to a tree with its public parameters: the one way, whoever asks.

    reports -> what they say about the true counts (a profile) -> points -> search -> tree

Points are made of reports where they are needed and dropped again, so memory follows the size of a report (tens of bytes per
user), not the size of a point (hundreds).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.errors import InputError
from privact.learn.evidence.profile import Evidence, RoundReports
from privact.learn.evidence.profiles import DEFAULT_PROFILE, find_profile
from privact.learn.limits import LIMITS, Limits
from privact.learn.reports.report_table import JoinedColumns
from privact.learn.scale.population import EmbeddedRows, Rows
from privact.learn.scale.task_runner import Engine
from privact.learn.search.learn_tree import choose_balance, learn_tree
from privact.learn.search.search import Temperature
from privact.learn.search.searches import DEFAULT_SEARCH
from privact.progress import Progress, ignore_progress
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["LearnSettings", "Learned", "embed_rounds", "fit_evidence", "learn_from_reports"]


@dataclass(frozen=True)
class LearnSettings:
    """How a tree is learned from reports.

    profile: what users are compared by: a name in `PROFILES`.
    denoise: learn from what the reports say about the true counts; False takes the reports as they are.
    search, sweeps, temperature, balance, random_state: see `learn_tree`.
    """

    profile: str = DEFAULT_PROFILE
    denoise: bool = True
    search: str = DEFAULT_SEARCH
    sweeps: int | None = None
    temperature: Temperature | None = None
    balance: float | None = None
    random_state: int | np.random.Generator | None = None


DEFAULTS = LearnSettings()
"""Denoised counts and the default search."""


@dataclass(frozen=True, eq=False)
class Learned:
    """A tree learned from reports.

    tree: with the ids of its users and its public parameters.
    evidence: what the reports say about their users; keep it to place newcomers and to recommend.
    cost_trace: Dasgupta's cost of the start and after each sweep, see `LearnedTree`.
    """

    tree: HierarchicalClusterTree
    evidence: Evidence
    cost_trace: NDArray[np.float64]


def learn_from_reports(
    reports: RoundReports | Sequence[RoundReports],
    settings: LearnSettings = DEFAULTS,
    *,
    parameters: Mapping[str, Any] | None = None,
    engine: Engine | None = None,
    progress: Progress = ignore_progress,
    limits: Limits = LIMITS,
) -> Learned:
    """Learn the tree of the users of a round, or of several rounds that the same users answered.

    reports: the reports of each round, from `read_reports`, `write_report_table` or memory.
    settings: what users are compared by, and how the tree is searched.
    parameters: public facts about the rounds, which the tree carries beside the settings.
    engine: where very many users are learned, from `open_engine`; the tree does not depend on it.
    progress: called with the stage, how much of it is done, and the total.
    """
    rounds = _checked_rounds(reports)
    profile = find_profile(settings.profile)
    progress("denoising reports", 0, len(rounds[0].table))
    evidence = profile.fit(rounds, settings.denoise, limits)
    found = learn_tree(
        embed_rounds(evidence, rounds),
        search=settings.search,
        sweeps=settings.sweeps,
        temperature=settings.temperature,
        balance=settings.balance,
        random_state=settings.random_state,
        progress=progress,
        users=rounds[0].table.users,
        engine=engine,
        limits=limits,
        return_trace=True,
    )
    balance = choose_balance(settings.balance, settings.search, settings.temperature)
    named: dict[str, Any] = {} if settings.profile == DEFAULT_PROFILE else {"profile": settings.profile}
    if balance > 0.0:
        named["balance"] = balance
    facts = {"denoise": settings.denoise, "search": settings.search, **named, **(parameters or {})}
    return Learned(found.tree.with_parameters(facts), evidence, found.cost_trace)


def fit_evidence(
    reports: RoundReports | Sequence[RoundReports], profile: str, denoise: bool = True, limits: Limits = LIMITS
) -> Evidence:
    """Fit what reports say about their users, without learning a tree; arguments as for `learn_from_reports`."""
    return find_profile(profile).fit(_checked_rounds(reports), denoise, limits)


def embed_rounds(evidence: Evidence, rounds: Sequence[RoundReports]) -> EmbeddedRows:
    """The users of some rounds, whose points are made when they are needed."""
    tables: list[NDArray[np.integer[Any]]] = [round.table.matrix for round in rounds]
    if evidence.uses_own_labels:
        labels = rounds[-1].own_labels
        tables.append(np.full(len(tables[0]), -1) if labels is None else labels)
    rows: Rows = tables[0] if len(tables) == 1 else JoinedColumns(tables)
    return EmbeddedRows(rows, evidence.embedder)


def _checked_rounds(reports: RoundReports | Sequence[RoundReports]) -> Sequence[RoundReports]:
    rounds = [reports] if isinstance(reports, RoundReports) else list(reports)
    if not rounds:
        raise InputError("no round given: give the reports of at least one")
    n = len(rounds[0].table)
    if n < 2:
        raise InputError(f"{n} reports, but a tree needs at least 2: wait for more")
    for round in rounds:
        if len(round.table) != n:
            raise InputError(f"rounds of {n} and {len(round.table)} reports: give the reports of the same users in each round")
        labels = round.own_labels
        if labels is not None and (labels.shape != (n,) or labels.dtype.kind not in "iu"):
            raise InputError(
                f"own labels have shape {labels.shape} and type {labels.dtype}: give one whole number for each of {n}"
            )
    return rounds
