"""The sections of the whole report: every table and figure of the paper, then ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from privact.experiments.differences import DIFFERENCES
from privact.experiments.results import Findings
from privact.progress import Tell

__all__ = ["SECTIONS", "Section", "Tell"]


Run = Callable[[str | None, Path, bool, Tell], Findings]
"""Called with the folder of the datasets, a folder for finished parts, whether to be quick, and whom to tell."""


@dataclass(frozen=True)
class Section:
    """One part of the report.

    name: of its files. title: of its heading, known even if it fails.
    run: computes it; imports what it needs when it is called.
    epsilon: the promises per edge that it is measured at; quick_epsilon: if others when it is quick.
    full, quick: its seeds, in words.
    files: which files of the datasets it reads: social, ratings, or none.
    version: raise it when the experiment changes what it finds.
    until: where the page stops in the report, because the rest is a section of its own.
    """

    name: str
    title: str
    run: Run
    epsilon: str
    full: str
    quick: str
    files: tuple[str, ...] = ("social",)
    version: int = 1
    until: str | None = None
    quick_epsilon: str | None = None

    @property
    def different(self) -> str:
        """What is different from the paper, and why, in Markdown."""
        return DIFFERENCES[self.name]


def _table1(data: str | None, parts: Path, quick: bool, tell: Tell) -> Findings:
    from privact.experiments.table1 import table_1

    return table_1(data, lambda text: tell(text, 0, 0))


def _table2(data: str | None, parts: Path, quick: bool, tell: Tell) -> Findings:
    from privact.experiments.table2 import reproduce_table_2

    return reproduce_table_2(data, 1 if quick else 5, lambda text: tell(text, 0, 0))


def _figure5(data: str | None, parts: Path, quick: bool, tell: Tell) -> Findings:
    from privact.experiments.figure5 import SWEEPS, figure_5

    return figure_5(data, 1 if quick else 3, SWEEPS, lambda text: tell(text, 0, 0))


def _table3(data: str | None, parts: Path, quick: bool, tell: Tell) -> Findings:
    from privact.experiments.table3 import table_3

    return table_3(data, parts, quick, tell)


def _table4(data: str | None, parts: Path, quick: bool, tell: Tell) -> Findings:
    from privact.experiments.existing import table_4

    return table_4(data, parts, quick, tell)


def _table5(data: str | None, parts: Path, quick: bool, tell: Tell) -> Findings:
    from privact.experiments.table5 import table_5

    return table_5(data, parts, quick, tell)


def _distance(data: str | None, parts: Path, quick: bool, tell: Tell) -> Findings:
    from privact.experiments.distance import distance

    return distance(data, parts, quick, tell)


def _communities(data: str | None, parts: Path, quick: bool, tell: Tell) -> Findings:
    from privact.experiments.communities import communities

    return communities(data, parts, 1 if quick else 3, quick, tell)


def _bins(data: str | None, parts: Path, quick: bool, tell: Tell) -> Findings:
    from privact.experiments.bins import bins

    return bins(data, parts, quick, tell)


def _posterior(data: str | None, parts: Path, quick: bool, tell: Tell) -> Findings:
    from privact.experiments.posterior import posterior

    return posterior(data, parts, 1 if quick else 3, tell)


def _scale(data: str | None, parts: Path, quick: bool, tell: Tell) -> Findings:
    from privact.experiments.scale import scale

    return scale(quick, lambda text: tell(text, 0, 0))


BOTH = ("social", "ratings")
SECTIONS = (
    Section("table1", "Table 1: the networks", _table1, "none", "none", "none"),
    Section("table2", "Table 2: quality of private trees", _table2, "0.5, 1, 2", "0 to 4", "0"),
    Section("figure5", "MCMC figure: PrivaCT and CMN-DP by log C_M", _figure5, "0.5, 1, 2", "0 to 2", "0"),
    Section("table3", "Table 3: recommendations for users without ratings", _table3, "1", "0 to 2", "0", BOTH),
    Section("table4", "Table 4: recommendations for users with ratings", _table4, "1", "0 to 2", "0", BOTH),
    Section("table5", "Table 5: like ratings and distance in the network", _table5, "none", "fixed", "fixed", BOTH),
    Section(
        "distance",
        "Section 7.4: distance in the network and NDCG",
        _distance,
        "1",
        "0 to 2",
        "0",
        BOTH,
        until="## Like ratings and distance (the paper's Table 5)",
    ),
    Section(
        "communities",
        "Communities: what a tree knows about contacts",
        _communities,
        "1, 2",
        "0 to 2",
        "0",
        BOTH,
        quick_epsilon="1",
    ),
    Section("bins", "Bins: what they make the tree see", _bins, "0.5, 1, 2", "0, 1", "0"),
    Section("posterior", "Posterior: what users are compared by", _posterior, "0.5, 1, 2", "0 to 2", "0"),
    Section("scale", "Scale: many users", _scale, "1", "0", "0", ()),
)
"""In the order of the report."""
