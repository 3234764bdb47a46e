"""Python in the documentation: every fenced block runs, and every name that a page imports exists."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from privact.simulate.federated_network import make_federated_network

from .fences import PAGES, ROOT, blocks

TUTORIAL = ROOT / "docs" / "tutorial.md"  # run by test_tutorial, whose blocks share files with a shell
WITH_PYTHON = [page for page in PAGES if page != TUTORIAL and any(block.language == "python" for block in blocks(page))]
_IMPORT = re.compile(r"\bfrom (privact[\w.]*) import (?:\(([^)]*)\)|([\w, ]+))")


def shown(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What a page may take for granted: a folder with contacts and ratings of ada and others, their graph, and a generator."""
    network = make_federated_network(n_users=200, branching=(2, 2), n_artists=50, random_state=0)
    names = ["ada", *network.graph.users[1:]]
    edges = [f"{names[one]}\t{names[other]}\n" for one, other in network.graph.edges().tolist()]
    rated = [f"{names[user]}\t{item}\t{plays}\n" for user, item, plays in network.ratings.tolist()]
    (tmp_path / "contacts.tsv").write_text("".join(edges))
    (tmp_path / "ratings.tsv").write_text("".join(rated))
    monkeypatch.chdir(tmp_path)
    from privact import read_graph

    return {"graph": read_graph("contacts.tsv"), "rng": np.random.default_rng(0)}


@pytest.mark.parametrize("page", WITH_PYTHON, ids=shown)
def test_the_python_of_a_page_runs_and_prints_what_comments_say(page: Path, given: dict[str, Any], capsys: Any) -> None:
    """Blocks of a page share their names. A comment after a `print` is what it prints."""
    names = dict(given)
    for block in blocks(page):
        if block.language == "python":
            exec(compile(block.code, f"{shown(page)}, block at line {block.line}", "exec"), names)
            printed = capsys.readouterr().out.splitlines()
            for line in re.findall(r"^print\(.*\)  # (.+)$", block.code, re.MULTILINE):
                assert line in printed, f"{shown(page)}, block at line {block.line}"


def imported_names() -> list[tuple[str, str, str]]:
    """Page, module and name of everything of ours that pages import, in whatever kind of block."""
    found = set()
    for page in PAGES:
        for module, bracketed, plain in _IMPORT.findall(page.read_text(encoding="utf-8")):
            for name in (bracketed or plain).split(","):
                if name.strip():
                    found.add((shown(page), module, name.split(" as ")[0].strip()))
    return sorted(found)


@pytest.mark.parametrize(("page", "module", "name"), imported_names())
def test_every_imported_name_exists(page: str, module: str, name: str) -> None:
    assert hasattr(importlib.import_module(module), name), f"{page} imports {name} from {module}"


def test_there_are_examples_to_run() -> None:
    assert {"README.md", "docs/howto/python.md", "docs/howto/recommend.md"} <= {shown(page) for page in WITH_PYTHON}
