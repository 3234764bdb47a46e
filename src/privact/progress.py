"""Progress reporting for long-running work: the one type of callback, and a bar that shows it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["Progress", "ignore_progress", "progress_bar"]

Progress = Callable[[str, int, int], None]
"""Called with the stage, how much of it is done, and the total; where the total is not known, it equals what is done."""


def ignore_progress(stage: str, done: int, total: int) -> None:
    """Report progress to nobody."""


@contextmanager
def progress_bar(quiet: bool = False) -> Iterator[Progress]:
    """Show a bar on stderr for each stage, removed when the block ends; nothing where stderr is not a terminal.

    quiet: never show anything.
    """
    if quiet or not sys.stderr.isatty():
        yield ignore_progress
        return
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task, shown = bar.add_task("starting", total=None), "starting"

        def show(stage: str, done: int, total: int) -> None:
            nonlocal task, shown
            if stage != shown:
                bar.remove_task(task)
                task, shown = bar.add_task(stage, total=None), stage
            bar.update(task, completed=done, total=total if 0 < done < total else None)

        yield show
