from __future__ import annotations

import webbrowser

import matplotlib
import pytest

from privact.drawing import notebook
from privact.tree.hct import HierarchicalClusterTree

matplotlib.use("agg")

TREE = HierarchicalClusterTree.from_nested(((("ann", "bob"), "<cy>"), (("dan", "eve"), ("fay", "gus"))))


def test_a_plot_has_a_box_for_every_cluster_it_shows():
    from matplotlib import pyplot

    axes = TREE.plot(title="seven", highlight="ann")
    assert axes.get_title() == "seven"
    widths = [round(patch.get_width()) for patch in axes.patches]
    assert widths[0] == 7
    assert widths.count(1) >= 7  # every user has a box, those around ann an outline more
    other = pyplot.subplots()[1]
    assert TREE.plot(other) is TREE.plot(ax=other) is other
    pyplot.close("all")


def test_show_writes_the_explorer_and_opens_it(tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    file = TREE.show(tmp_path / "tree.html")
    assert "7 users" in file.read_text()
    assert opened == [file.as_uri()]
    assert TREE.show(open_browser=False).suffix == ".html"
    assert len(opened) == 1


def test_a_notebook_shows_the_explorer_of_trees_that_are_not_too_large(monkeypatch):
    shown = TREE._repr_html_()
    assert shown.startswith("<p>HierarchicalClusterTree(7 users")
    assert '<iframe sandbox="allow-scripts"' in shown
    assert shown.count("<script>") == 0  # the page is one attribute of the frame
    monkeypatch.setattr(notebook, "MOST_IN_A_NOTEBOOK", 5)
    assert "show()" in TREE._repr_html_()
    assert "iframe" not in TREE._repr_html_()


@pytest.fixture(autouse=True)
def _no_browser(monkeypatch):
    monkeypatch.setattr(webbrowser, "open", lambda address: True)
