"""Bars of progress: one output of a notebook that is replaced in place, a line in a terminal, nothing in a pipe."""

from __future__ import annotations

import io
import sys
import types
from typing import Any

import numpy as np
import pytest

import privact.progress
from privact import PrivaCT, learn_tree
from privact.progress import open_progress, progress_bar
from privact.simulate.known_graphs import make_cliques


class Notebook:
    """What a cell of a notebook shows: outputs, each with all its states, the last of which stays."""

    def __init__(self) -> None:
        self.outputs: list[list[dict[str, str]]] = []

    def display(self, data: dict[str, str], raw: bool, display_id: bool) -> Any:
        assert raw
        assert display_id
        states = [data]
        self.outputs.append(states)
        return types.SimpleNamespace(update=lambda data, raw: states.append(data))


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Notebook:
    """This process as a kernel of Colab, whose shell is made from Jupyter's."""
    shown = Notebook()
    shell = type("Shell", (type("ZMQInteractiveShell", (), {}),), {})()
    ipython, display = types.ModuleType("IPython"), types.ModuleType("IPython.display")
    ipython.get_ipython = lambda: shell  # type: ignore[attr-defined]
    display.display = shown.display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return shown


def test_a_notebook_shows_one_bar_in_place(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter([0.0, 0.05, 0.1, 0.4, 0.45, 2.0])
    monkeypatch.setattr(privact.progress.time, "monotonic", lambda: next(seconds))
    with progress_bar() as show:
        show("counting", 0, 4)  # a new stage is shown at once
        show("counting", 1, 4)  # too early
        show("counting", 2, 4)
        show("<search>", 1, 1)
    (states,) = notebook.outputs
    assert [each["text/plain"] for each in states] == [
        "starting",
        "counting, 0 s",
        " 50% counting, 0 s",
        "<search>, 0 s",
        "done after 2.0 s",
    ]
    assert states[2]["text/html"] == '<progress value="0.500"></progress> counting, 0 s'
    assert states[3]["text/html"] == "<progress></progress> &lt;search&gt;, 0 s"


def test_a_failure_ends_the_bar(notebook: Notebook) -> None:
    with pytest.raises(ZeroDivisionError), progress_bar():
        raise ZeroDivisionError
    assert notebook.outputs[0][-1]["text/plain"].startswith("stopped after ")


def test_fit_and_learn_tree_show_it(notebook: Notebook, recwarn: pytest.WarningsRecorder) -> None:
    PrivaCT(epsilon=None, n_bins=3, random_state=1).fit(make_cliques([4, 5]).graph, progress=True)
    learn_tree(np.array([[0], [1], [5], [6]]), progress=True)
    assert len(notebook.outputs) == 2
    assert all(states[-1]["text/plain"].startswith("done after ") for states in notebook.outputs)
    assert not recwarn.list


def test_a_terminal_forgets_the_bar_and_a_pipe_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for stream in (Terminal(), io.StringIO()):
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setenv("TERM", "xterm")
        with open_progress(True) as show:
            show("counting", 1, 2)
            show("searching", 1, 2)
        written = stream.getvalue()
        assert ("searching" in written) == stream.isatty()
        assert written.endswith("\x1b[2K") == stream.isatty(), "the line is erased at the end"
