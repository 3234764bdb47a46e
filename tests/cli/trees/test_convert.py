from __future__ import annotations

import io
import json

import numpy as np
import pytest

from privact.tree.hct import HierarchicalClusterTree


def test_text_formats_go_to_stdout_and_come_back(run, tree):
    original = HierarchicalClusterTree.load(tree)
    assert HierarchicalClusterTree.from_newick(run("convert", tree, "--to", "newick").stdout) == original
    assert HierarchicalClusterTree.from_json(run("convert", tree, "--to", "json").stdout) == original
    table = np.loadtxt(io.StringIO(run("convert", tree, "--to", "linkage").stdout))
    np.testing.assert_array_equal(table, original.to_linkage())


def test_a_file_has_the_same_content(run, ask, tree, tmp_path):
    for name in ("newick", "json", "linkage"):
        path = tmp_path / f"tree.{name}"
        assert run("convert", tree, "--to", name, "-o", path).stdout == f"written: {path}\n"
        assert path.read_text() == run("convert", tree, "--to", name).stdout
    array = tmp_path / "tree.npy"
    assert ask("convert", tree, "--to", "linkage", "-o", array) == {"format": "linkage", "users": 8, "output": str(array)}
    np.testing.assert_array_equal(np.load(array), HierarchicalClusterTree.load(tree).to_linkage())


def test_with_json_there_is_one_document(ask, tree):
    found = ask("convert", tree, "--to", "newick")
    assert HierarchicalClusterTree.from_newick(found["content"]) == HierarchicalClusterTree.load(tree)
    assert json.loads(ask("convert", tree, "--to", "json")["content"])["format"] == "privact-hct"


@pytest.mark.parametrize("kind", ["html", "png", "svg"])
def test_show_draws_each_kind(run, ask, tree, teams, tmp_path, kind):
    path = tmp_path / f"tree.{kind}"
    found = ask("show", tree, "-o", path)
    assert found == {"output": str(path), "users": 8}
    plain = path.read_bytes()
    assert run("show", tree, "-o", path, "--user", "ann", "--labels", teams, "--title", "Two teams").exit_code == 0
    assert path.read_bytes() != plain


def test_a_page_tells_the_promise_if_there_is_one(run, tree, numbered, tmp_path):
    path = tmp_path / "tree.html"
    run("show", tree, "-o", path)
    assert "Per edge: in round simulation" in path.read_text()
    run("show", numbered, "-o", path)
    assert "Per edge" not in path.read_text()
