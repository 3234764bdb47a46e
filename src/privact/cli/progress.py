"""A progress bar on stderr, when a person looks."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from privact.progress import Tell

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(quiet: bool = False) -> Iterator[Tell]:
    """A bar for each stage of some work, gone when the work is done.

    quiet: show nothing whoever looks.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda stage, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    looks = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    with Progress(*looks, console=Console(stderr=True), transient=True) as bar:
        task, shown = bar.add_task("starting", total=None), "starting"

        def tell(stage: str, done: int, total: int) -> None:
            nonlocal task, shown
            if stage != shown:
                bar.remove_task(task)
                task, shown = bar.add_task(stage, total=None), stage
            bar.update(task, completed=done, total=total if 0 < done < total else None)

        yield tell
