"""The picture of a tree in a real browser: it draws itself from one file, without any other host."""

from __future__ import annotations

import os
import shutil
import subprocess

import numpy as np
import pytest

from privact.query.picture import save_picture
from privact.tree.learn import learn_tree

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def browser() -> str:
    if CHROMIUM is None:
        if os.environ.get("PRIVACT_REQUIRE_BROWSER"):
            pytest.fail("no Chromium found, and PRIVACT_REQUIRE_BROWSER is set")
        pytest.skip("no Chromium found: install it to see the pictures tested")
    return CHROMIUM


def test_the_page_draws_every_cluster_without_another_host(browser, tmp_path):
    vectors = np.random.default_rng(0).poisson(np.random.default_rng(1).pareto(1.5, (300, 1)) * 4, (300, 5))
    tree = learn_tree(vectors, users=[f"user{i}" for i in range(300)])
    page = tmp_path / "tree.html"
    save_picture(tree, page)
    done = subprocess.run(
        [
            browser,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--no-first-run",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--virtual-time-budget=8000",
            "--dump-dom",
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    drawn = done.stdout.count('class="slice')
    assert drawn >= 5, f"only {drawn} clusters on the page"
    assert "300" in done.stdout
