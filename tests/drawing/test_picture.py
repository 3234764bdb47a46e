from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import re

import numpy as np
import pytest

from privact.drawing import picture
from privact.drawing.colours import EVERYBODY, POOL, branch_colour, group_colour, ink_on
from privact.drawing.composition import compose_drawing
from privact.drawing.picture import save_picture
from privact.errors import InputError, MissingExtraError, UnknownUserError
from privact.query.blocks import Block
from privact.query.quality import draw_random_tree
from privact.tree.hct import HierarchicalClusterTree

USERS = [f"user{i}" for i in range(60)]
KINDS = [".html", ".png", ".svg"]


@pytest.fixture(scope="module")
def tree():
    return draw_random_tree(60, np.random.default_rng(0), USERS)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_tree_gives_the_same_file(tree, tmp_path, kind):
    one, other = tmp_path / f"one{kind}", tmp_path / f"other{kind}"
    for path in (one, other):
        save_picture(
            tree,
            path,
            title="Sixty",
            notes="a note",
            highlight="user7",
            groups=["left" if i < 20 else "right" for i in range(60)],
        )
    assert one.read_bytes() == other.read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {one.name, other.name}
    beginning = {".html": b"<!doctype html>", ".png": b"\x89PNG", ".svg": b"<?xml"}[kind]
    assert one.read_bytes().startswith(beginning)


def inside(path):
    """What the page carries: the head and the two arrays of children."""
    packed = re.search(r'<script type="text/plain" id="tree">([^<]*)</script>', path.read_text())[1]
    data = gzip.decompress(base64.b64decode(packed))
    length = int.from_bytes(data[:4], "little")
    return json.loads(data[4 : 4 + length]), np.frombuffer(data[4 + length :], "<i4").reshape(2, -1)


def test_a_page_holds_the_whole_tree_and_needs_nothing_else(tree, tmp_path):
    path = tmp_path / "tree.html"
    save_picture(tree, path, title="Sixty & one", notes="Per edge: <epsilon>", highlight="user7")
    text = path.read_text()
    assert "<h1>Sixty &amp; one</h1>" in text
    assert "Per edge: &lt;epsilon&gt;" in text
    head, (left, right) = inside(path)
    assert head == {"n_users": 60, "users": USERS, "groups": None, "highlight": "user7"}
    assert left.tolist() == tree.left.tolist()
    assert right.tolist() == tree.right.tolist()
    outside_scripts = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert not re.findall(r"(?:src|href)=|https?://|@import|url\(", outside_scripts)
    assert not re.findall(r"<script[^>]+src=|<link", text)


def test_the_policy_of_a_page_allows_its_own_scripts_and_style_only(tree, tmp_path):
    path = tmp_path / "tree.html"
    save_picture(tree, path, groups=["a"] * 60)
    text = path.read_text()
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1])
    digests = set(re.findall(r"'sha256-([^']+)'", policy))
    bodies = re.findall(r"<script>(.*?)</script>", text, re.DOTALL) + re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    assert {base64.b64encode(hashlib.sha256(body.encode()).digest()).decode() for body in bodies} == digests
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy


def test_ids_cannot_break_out_of_a_page(tmp_path):
    evil = ["</script><script>alert(1)</script>", '<img src=x onerror="alert(2)">', "<b>bold</b>", "$x^2$", "100%{customdata}"]
    tree = HierarchicalClusterTree.from_nested(((((0, 1), 2), 3), 4), users=None)
    tree = HierarchicalClusterTree.from_children(tree.left, tree.right, evil)
    save_picture(tree, tmp_path / "tree.html", title=evil[0], notes=evil[1], highlight=evil[0], groups=evil)
    text = (tmp_path / "tree.html").read_text()
    for harm in ("<script>alert", "<img src=x", "<b>bold"):
        assert harm not in text
    assert inside(tmp_path / "tree.html")[0]["users"] == evil
    for kind in (".png", ".svg"):
        save_picture(tree, tmp_path / f"tree{kind}", title=evil[0], notes=evil[1], highlight=evil[0], groups=evil)


def test_groups_tell_what_a_cluster_consists_of():
    tree = HierarchicalClusterTree.from_nested((((0, 1), (2, 3)), ((4, 5), (6, 7))))
    drawing = compose_drawing(tree, groups=["a", "a", "a", "b", "b", "b", None, "c"])
    assert drawing.groups == ["a", "b", "c"]
    assert drawing.mixtures[0] in (("a", 3 / 8), ("b", 3 / 8))
    by_users = {frozenset(block.leaves): mixture for block, mixture in zip(drawing.blocks, drawing.mixtures, strict=True)}
    assert by_users[frozenset({0, 1})] == ("a", 1.0)
    assert by_users[frozenset({2, 3})][1] == 0.5
    assert by_users[frozenset({6})] is None
    assert by_users[frozenset({7})] == ("c", 1.0)


def test_pools_count_their_own_users(tmp_path):
    n_users = 3000
    left = np.arange(n_users - 1, 2 * n_users - 2)
    left[:1] = 0
    tree = HierarchicalClusterTree.from_children(left, np.arange(1, n_users))
    drawing = compose_drawing(tree, groups=["early"] * 1000 + ["late"] * 2000)
    pool = next(number for number, block in enumerate(drawing.blocks) if block.is_pool)
    assert drawing.blocks[pool].size == 2000
    assert drawing.mixtures[pool] == ("late", 1.0)
    assert drawing.mixtures[1] == ("early", 1.0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("nested", [0, (0, 1), ((0, 1), 2)], ids=["one user", "two users", "three users"])
def test_tiny_trees_can_be_drawn(tmp_path, kind, nested):
    tree = HierarchicalClusterTree.from_nested(nested)
    save_picture(tree, tmp_path / f"tree{kind}", highlight=0)
    assert (tmp_path / f"tree{kind}").stat().st_size > 1000
    assert compose_drawing(tree, highlight=0).blocks[0].size == tree.n_users


def test_a_picture_of_another_kind_is_refused(tree, tmp_path):
    with pytest.raises(InputError, match=r"tree\.pdf: the name must end in \.html, \.png or \.svg"):
        save_picture(tree, tmp_path / "tree.pdf")
    with pytest.raises(UnknownUserError, match="nobody"):
        save_picture(tree, tmp_path / "tree.png", highlight="nobody")
    with pytest.raises(InputError, match="3 groups for 60 users"):
        save_picture(tree, tmp_path / "tree.png", groups=["a", "b", "c"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("kind", "package"), [(".png", "matplotlib"), (".svg", "matplotlib")])
def test_without_the_extra_the_error_says_what_to_install(tree, tmp_path, monkeypatch, kind, package):
    monkeypatch.setattr(picture, "find_spec", lambda name: None if name == package else object())
    with pytest.raises(MissingExtraError, match=rf"needs {package}.*privact\[plot\]"):
        save_picture(tree, tmp_path / f"tree{kind}")
    assert list(tmp_path.iterdir()) == []


def block(begin, end, clusters=1, first_row=1):
    return Block(0, 0, 1, clusters, first_row, first_row, begin, end, ())


def luminance(colour):
    return sum(weight * int(colour[at : at + 2], 16) for weight, at in ((0.2126, 1), (0.7152, 3), (0.0722, 5)))


def test_without_colour_lightness_still_tells_the_size():
    sizes = [0.6, 0.2, 0.05, 0.01]
    by_size = [luminance(branch_colour(block(0.3, 0.3 + size))) for size in sizes]
    assert by_size == sorted(by_size)
    assert by_size[-1] - by_size[0] > 40


def test_branches_and_groups_have_their_own_colours_and_mixtures_are_grey():
    assert branch_colour(block(0.0, 0.1)) != branch_colour(block(0.9, 1.0))
    assert branch_colour(block(0.0, 1.0, first_row=0)) == EVERYBODY
    assert branch_colour(block(0.5, 1.0, clusters=9)) == POOL
    assert len({group_colour(block(0.0, 0.1), group, 16, 1.0) for group in range(16)}) == 16
    grey = group_colour(block(0.0, 0.1), 3, 16, 0.2)
    assert max(int(grey[at : at + 2], 16) for at in (1, 3, 5)) - min(int(grey[at : at + 2], 16) for at in (1, 3, 5)) <= 1


def test_text_has_the_contrast_that_accessibility_asks_for():
    def linear(value):
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    def relative(colour):
        return sum(w * linear(int(colour[at : at + 2], 16) / 255) for w, at in ((0.2126, 1), (0.7152, 3), (0.0722, 5)))

    for place in np.linspace(0, 0.99, 34):
        for size in (0.01, 0.1, 0.5):
            colour = branch_colour(block(place * (1 - size), place * (1 - size) + size))
            bright, dark = sorted((relative(colour), relative(ink_on(colour))), reverse=True)
            assert (bright + 0.05) / (dark + 0.05) >= 4.5
