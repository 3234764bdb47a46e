"""Hold processes to a share of the machine's cores, so that one part of a benchmark is the limit.

It is a control group of Linux: version 2, or version 1 with its cpu controller. Making one takes root.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from privact.errors import PrivaCTError

__all__ = ["hold_to_cores"]

PERIOD: Final = 20_000
"""Microseconds over which the share is counted: short beside a response, so that a pause does not stand for the limit."""

ROOT: Final = Path("/sys/fs/cgroup")


@contextmanager
def hold_to_cores(processes: Iterable[int], cores: float, root: Path = ROOT) -> Iterator[None]:
    """Hold processes, and those that they start from now on, to this many cores together until the end of the block.

    processes: numbers of processes. cores: such as 0.25. root: where control groups are.
    """
    quota = max(1_000, round(cores * PERIOD))
    if (root / "cgroup.controllers").exists():
        parent, limits = root, {"cpu.max": f"{quota} {PERIOD}"}
    else:
        parent, limits = root / "cpu", {"cpu.cfs_period_us": str(PERIOD), "cpu.cfs_quota_us": str(quota)}
    group = parent / f"privact-bench-{os.getpid()}"
    members = list(processes)
    try:
        group.mkdir()
    except OSError as error:
        raise PrivaCTError(
            f"no control group could be made in {parent} ({error.strerror}): run as root on Linux, or leave out --database-cores"
        ) from None
    try:
        try:
            for name, value in limits.items():
                (group / name).write_text(value)
            for process in members:
                with suppress(ProcessLookupError):
                    (group / "cgroup.procs").write_text(str(process))
        except OSError as error:
            raise PrivaCTError(
                f"{group} takes no limit of {cores:g} cores ({error.strerror}): enable its cpu controller, or leave out "
                "--database-cores"
            ) from None
        yield
    finally:
        _remove(group, parent)


def _remove(group: Path, parent: Path) -> None:
    """Send the processes that are left to the parent, and remove the group."""
    with suppress(OSError):
        for process in (group / "cgroup.procs").read_text().split():
            with suppress(OSError):
                (parent / "cgroup.procs").write_text(process)
    with suppress(OSError):
        group.rmdir()
