"""A tree and a graph whose answers are visible, and a way to run commands."""

from __future__ import annotations

import json
from itertools import combinations

import pytest
from typer.testing import CliRunner

from privact.cli.main import app
from privact.tree.hct import HierarchicalClusterTree

PARAMETERS = {"epsilon": 1.0, "n_bins": 2, "bins": "random", "bins_seed": "00" * 16, "denoise": True, "search": "linkage"}


@pytest.fixture
def run():
    """Run a command line; the result has exit_code, stdout and stderr."""

    def run(*arguments):
        return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)

    return run


@pytest.fixture
def ask(run):
    """Run a command with --json and return the document."""

    def ask(*arguments):
        result = run(*arguments, "--json")
        assert (result.exit_code, result.stderr) == (0, "")
        return json.loads(result.stdout)

    return ask


@pytest.fixture
def tree(tmp_path):
    """Two cliques of users in one tree file: ann, bob, cat, dan and eve, fay, gus, hal."""
    path = tmp_path / "tree.hct"
    nested = (((("ann", "bob"), "cat"), "dan"), (("eve", "fay"), ("gus", "hal")))
    HierarchicalClusterTree.from_nested(nested).save(path, PARAMETERS)
    return path


@pytest.fixture
def numbered(tmp_path):
    """A tree file without ids: ((0, 1), 2)."""
    path = tmp_path / "numbered.hct"
    HierarchicalClusterTree.from_nested(((0, 1), 2)).save(path)
    return path


@pytest.fixture
def contacts(tmp_path):
    """The contacts of the two cliques, one of them named twice and one with oneself."""
    path = tmp_path / "contacts.tsv"
    pairs = [*combinations(("ann", "bob", "cat", "dan"), 2), *combinations(("eve", "fay", "gus", "hal"), 2)]
    path.write_text("user\tcontact\n" + "".join(f"{one}\t{other}\n" for one, other in [*pairs, ("bob", "ann"), ("hal", "hal")]))
    return path


@pytest.fixture
def teams(tmp_path):
    """A public label for everyone but hal."""
    path = tmp_path / "teams.tsv"
    red, blue = ("ann", "bob", "cat", "dan"), ("eve", "fay", "gus")
    path.write_text("user\tteam\n" + "".join(f"{user}\tred\n" for user in red) + "".join(f"{user}\tblue\n" for user in blue))
    return path
