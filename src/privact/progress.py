"""Progress reporting for long-running work: the one type of callback, and a bar that shows it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from privact.errors import InputError

__all__ = ["Progress", "ignore_progress", "open_progress", "progress_bar"]

Progress = Callable[[str, int, int], None]
"""Called with the stage, how much of it is done, and the total; where the total is not known, it equals what is done."""


def ignore_progress(stage: str, done: int, total: int) -> None:
    """Report progress to nobody."""


@contextmanager
def open_progress(progress: Progress | bool | None) -> Iterator[Progress]:
    """What a caller asked for as `progress`, as a callback: True is a bar, False and None are nothing."""
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise InputError(f"progress is {progress!r}: give True for a bar, or a function of stage, done and total")
    if progress is True:
        with progress_bar() as show:
            yield show
    else:
        yield progress or ignore_progress


@contextmanager
def progress_bar(quiet: bool = False) -> Iterator[Progress]:
    """Show a bar for each stage, in a notebook or on stderr, removed when the block ends; nothing where neither is there.

    quiet: never show anything.
    """
    if quiet or not (sys.stderr.isatty() or _in_notebook()):
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


def _in_notebook() -> bool:
    """Whether this is a Jupyter kernel, which shows what rich draws."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"
