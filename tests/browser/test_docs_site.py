"""The documentation site, opened from files: its search box, and the page for participants, which is one screen."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("playwright")

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, as `make docs` builds it."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"})
    return folder


def test_the_search_box_finds_a_page_from_a_file(site: Path, open_page) -> None:
    page = open_page((site / "index.html").as_uri())
    page.locator("[data-md-component=search-query]").press_sequentially("balance floor")  # the box listens to keys
    found = page.locator(".md-search-result__item a").first
    found.wait_for(state="attached")
    address = found.get_attribute("href")
    assert address is not None
    page.goto(address)
    assert "balance" in page.locator("article").inner_text()


def test_the_page_for_participants_is_one_screen_with_a_picture(site: Path, open_page) -> None:
    page = open_page((site / "take-part.html").as_uri())
    page.set_viewport_size({"width": 1280, "height": 900})
    assert page.evaluate("document.documentElement.scrollHeight") == 900, "nothing to scroll"
    assert page.locator(".pictures img:visible").count() == 2
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.locator(".pictures img:visible").count() == 1
