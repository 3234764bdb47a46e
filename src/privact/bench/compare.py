"""What got slower from one file of benchmarks to another."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from privact.bench.result_file import read_result
from privact.errors import InputError

__all__ = ["MOST_SLOWER", "Change", "compare_files", "read_speeds"]

MOST_SLOWER = 0.15
"""A number that is worse by more than this share counts as slower."""


class Change(NamedTuple):
    """One number in both files.

    name, unit: what it is. before, after: its values. worse: by which share it got worse; negative if it got better.
    """

    name: str
    unit: str
    before: float
    after: float
    worse: float

    @property
    def slower(self) -> bool:
        """Whether it got worse by more than MOST_SLOWER."""
        return self.worse > MOST_SLOWER


def read_speeds(path: Path) -> dict[str, dict[str, Any]]:
    """The speeds of a file that `privact bench NAME --json` or `privact bench all --json` wrote, by name."""
    document = read_result(path)
    try:
        each = document.get("benchmarks") or {document["benchmark"]: document}
        quick = {True: " (quick)", False: ""}[bool(document.get("quick"))]  # a quick run measures something else under a name
        return {f"{name}{quick}: {speed['name']}": speed for name, found in each.items() for speed in found["speeds"]}
    except (LookupError, TypeError, AttributeError):
        raise InputError(f"{path} has no speeds: give a file that privact bench --json wrote") from None


def compare_files(before: Path, after: Path) -> list[Change]:
    """Every number that both files have, the worst first."""
    old, new = read_speeds(before), read_speeds(after)
    changes = []
    for name in old:
        if name in new and old[name]["value"] > 0 and new[name]["value"] > 0:
            first, second = float(old[name]["value"]), float(new[name]["value"])
            worse = first / second - 1.0 if old[name]["more_is_better"] else second / first - 1.0
            changes.append(Change(name, old[name]["unit"], first, second, worse))
    if not changes:
        raise InputError(f"{before} and {after} have no number in common: compare files of the same benchmarks")
    return sorted(changes, key=lambda change: -change.worse)
