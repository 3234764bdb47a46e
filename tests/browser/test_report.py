"""The report of privact reproduce all in a real browser: at 360 pixels, in light and dark, without help from outside."""

from __future__ import annotations

import gzip

import pytest
from axe_playwright_python.sync_playwright import Axe

from privact.experiments.experiment import Experiment
from privact.experiments.report.findings import Claim, Page, markdown_table
from privact.experiments.report.html_report import html_report
from privact.experiments.running.reproduce_all import reproduce_all


def write_wide(document):
    verdicts = ("holds", "holds with a caveat", "does not hold")
    claims = [Claim(f"Claim {number}.", "a rule", verdict, "numbers") for number, verdict in enumerate(verdicts)]
    text = markdown_table([f"a long heading {n}" for n in range(12)], [[n / 7 for n in range(12)]])
    return Page(f"## Part\n\n{text}", claims, lambda figure: figure.subplots(1, 3))


def fail(task):
    raise ValueError("a/very/long/path/without/any/blank/" * 6)


@pytest.fixture
def report(tmp_path):
    (tmp_path / "lastfm").mkdir()
    (tmp_path / "lastfm" / "social.tsv.gz").write_bytes(gzip.compress(b"user\tfriend\n1\t2\n"))
    made = [
        Experiment(name, f"Title of {name}", "", lambda measure=measure: (measure, write_wide), "1", "0", "0", "Nothing.")
        for name, measure in (("table2", lambda task: {}), ("table3", fail))
    ]
    done = list(reproduce_all(str(tmp_path), tmp_path / "results", True, lambda *told: None, made))
    path = tmp_path / "report.html"
    path.write_text(html_report(done, True))
    return path.as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_it_fits_and_is_accessible(open_page, report, scheme, width):
    page = open_page(report, viewport={"width": width, "height": 800}, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page).response["violations"]
    assert [(each["id"], each["nodes"][0]["html"][:80]) for each in found] == []
    page.get_by_role("link", name="table3").first.click()
    assert page.locator("#table3").is_visible()
    assert page.locator(".verdict").all_inner_texts()[:4] == ["holds", "holds with a caveat", "does not hold", "failed"]
