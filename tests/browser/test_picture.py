"""A tree's own page in a real browser: the same explorer as the served one, from one file, without any host."""

from __future__ import annotations

import json

import numpy as np
import pytest
from playwright.sync_api import expect

from privact.drawing.picture import save_picture
from privact.learn.search.learn_tree import learn_tree
from privact.query import explore
from privact.query.quality import draw_random_tree
from privact.tree.hct import HierarchicalClusterTree

USERS = [f"user{number}" for number in range(300)]


@pytest.fixture(scope="module")
def tree():
    vectors = np.random.default_rng(0).poisson(np.random.default_rng(1).pareto(1.5, (300, 1)) * 4, (300, 5))
    return learn_tree(vectors, users=USERS)


@pytest.fixture
def page(tree, tmp_path, open_page):
    path = tmp_path / "tree.html"
    save_picture(tree, path, title="Three hundred", groups=["left" if number < 150 else "right" for number in range(300)])
    page = open_page(path.as_uri())
    page.wait_for_selector(".tile")
    return page


def test_it_zooms_in_and_out_by_mouse_and_by_keys(page):
    assert "everybody: 300 users" in page.inner_text("#picture")
    inner = page.locator(".tile:not(.outermost):not(.pool):not(.narrow)").first
    size = int(inner.inner_text().split()[0])
    inner.click()
    page.wait_for_selector("#way button")
    expect(page.locator("#way li[aria-current]")).to_have_text(f"{size} users")
    expect(page.locator(".tile.outermost")).to_be_focused()
    for steps in range(page.locator("#way button").count(), 0, -1):
        page.keyboard.press("Escape")  # one step out each time
        expect(page.locator("#way button")).to_have_count(steps - 1)
        page.focus(".tile.outermost")
    page.focus(".tile.outermost")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    page.wait_for_selector("#way button")


def test_it_answers_searches_rings_cuts_and_comparisons(page, tree):
    page.fill("#search-text", "user12")
    page.wait_for_selector("#search-results button")
    page.keyboard.press("Enter")
    page.wait_for_selector("#person:not([hidden])")
    assert page.inner_text("#person-name") == "user12"
    page.evaluate("const s = document.getElementById('granularity'); s.value = s.max; s.dispatchEvent(new Event('input'))")
    expect(page.locator("#granularity-text")).to_have_text("300 users")
    page.fill("#cut-k", "3")
    page.fill("#cut-least", "10")
    page.click("#cut button")
    page.wait_for_selector("#cut-clusters li")
    sizes = [cluster["size"] for cluster in explore.cut_sizes(tree, 3, 10)["clusters"]]
    assert page.locator("#cut-clusters b").all_inner_texts() == [f"{size} users" for size in sizes]
    page.fill("#compare-a", "user1")
    page.fill("#compare-b", "user2")
    page.click("#compare button")
    size = tree.lowest_common_cluster("user1", "user2").size
    expect(page.locator("#compare-answer")).to_contain_text(f"has {size} users")
    page.fill("#compare-b", "nobody")
    page.click("#compare button")
    expect(page.locator("#compare .problem")).to_contain_text("nobody")


@pytest.mark.parametrize("seed", range(4))
def test_the_page_and_the_server_give_the_same_answers(open_page, tmp_path, seed):
    rng = np.random.default_rng(seed)
    n_users = [1, 2, 40, 900][seed]
    names = [f"{'AbcXyz'[number % 6]}{number}@{'ab'[number % 2]}.example" for number in range(n_users)]
    tree = draw_random_tree(n_users, rng, names)
    path = tmp_path / "tree.html"
    save_picture(tree, path)
    page = open_page(path.as_uri())
    page.wait_for_selector(".tile")
    leaf, other, node = (int(rng.integers(end)) for end in (n_users, n_users, tree.n_nodes))
    k = int(rng.integers(1, n_users + 1))
    pairs = [
        (f"view({node})", explore.view(tree, node)),
        (f"view(undefined, {json.dumps(names[leaf])})", explore.view(tree, highlight=leaf)),
        (f"members({node}, 1, 5)", explore.members(tree, node, 1, 5)),
        ("search('a1')", explore.search(tree, "a1")),
        ("search('B.EXAMPLE', 7)", explore.search(tree, "B.EXAMPLE", 7)),
        (f"rings({json.dumps(names[leaf])})", explore.rings(tree, leaf)),
        (f"cut({k})", explore.cut_sizes(tree, k)),
        ("cut(1, 2)", explore.cut_sizes(tree, 1, 2)),
        (f"compare({json.dumps(names[leaf])}, {json.dumps(names[other])})", explore.compare(tree, leaf, other)),
    ]
    for question, expected in pairs:
        for block in expected.get("blocks", []):
            del block["rows"]
        assert page.evaluate(f"privact.source.{question}") == json.loads(json.dumps(expected)), question


@pytest.mark.slow
def test_half_a_million_users_do_not_freeze_the_page(open_page, tmp_path):
    n_users = 500_000
    tree = draw_random_tree(n_users, np.random.default_rng(0), [f"u{number}@x.example" for number in range(n_users)])
    save_picture(tree, tmp_path / "large.html")
    page = open_page((tmp_path / "large.html").as_uri())
    page.wait_for_selector(".tile")
    assert page.locator(".tile").count() <= 600
    page.fill("#search-text", "u499999")
    page.wait_for_selector("#search-results button")
    page.keyboard.press("Enter")
    page.wait_for_selector("#person:not([hidden])")
    assert page.inner_text("#person-name") == "u499999@x.example"


def test_one_user_alone_can_be_looked_at(open_page, tmp_path):
    save_picture(HierarchicalClusterTree.from_nested(0), tmp_path / "one.html")
    page = open_page((tmp_path / "one.html").as_uri())
    page.wait_for_selector(".tile")
    assert page.locator(".tile").count() == 1
