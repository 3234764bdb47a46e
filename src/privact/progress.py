"""Progress reporting for long-running work: the one type of callback, and the bars that show it."""

from __future__ import annotations

import html
import sys
import time
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
    """Show a bar for each stage, in a notebook or on stderr; nothing where neither is there.

    A terminal forgets the bar when the block ends; a notebook keeps one line that says how long the work took.
    quiet: never show anything.
    """
    if not quiet and _in_notebook():
        with _notebook_bar() as show:
            yield show
    elif not quiet and sys.stderr.isatty():
        with _terminal_bar() as show:
            yield show
    else:
        yield ignore_progress


@contextmanager
def _terminal_bar() -> Iterator[Progress]:
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


UPDATE_EVERY = 0.2
"""Seconds between two updates of a bar in a notebook: each is a message to the browser."""


@contextmanager
def _notebook_bar() -> Iterator[Progress]:
    """A bar in one output of the cell, which is replaced in place; rich's own needs ipywidgets and is silent without."""
    from IPython.display import display

    began = time.monotonic()
    output = display(_shown("starting"), raw=True, display_id=True)
    shown, told = "starting", began

    def show(stage: str, done: int, total: int) -> None:
        nonlocal shown, told
        now = time.monotonic()
        if stage != shown or now - told >= UPDATE_EVERY:
            shown, told = stage, now
            output.update(_shown(f"{stage}, {now - began:.0f} s", done / total if 0 < done < total else None), raw=True)

    ended = "stopped"
    try:
        yield show
        ended = "done"
    finally:
        output.update(_shown(f"{ended} after {time.monotonic() - began:.1f} s", 1.0 if ended == "done" else 0.0), raw=True)


def _shown(words: str, share: float | None = None) -> dict[str, str]:
    """A bar and words beside it, as the formats that a notebook can show; share: how much is done, None for not known."""
    value = "" if share is None else f' value="{share:.3f}"'
    text = f"{share:4.0%} {words}" if share and share < 1 else words
    return {"text/plain": text, "text/html": f"<progress{value}></progress> {html.escape(words)}"}


def _in_notebook() -> bool:
    """Whether this is a Jupyter kernel, or one made from it as Colab's."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return "ZMQInteractiveShell" in (each.__name__ for each in type(shell).__mro__)
