"""All sections in one run: what is kept, what is computed again, what a failure does, and the report."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from privact.errors import InputError
from privact.experiments.experiment import Experiment
from privact.experiments.report.findings import Claim, Page
from privact.experiments.report.html_report import html_report
from privact.experiments.report.markdown_report import duration, markdown_report
from privact.experiments.running.data_content import data_content
from privact.experiments.running.reproduce_all import reproduce_all


def quiet(*told):
    pass


def social(folder, name, text="user\tfriend\n1\t2\n", mtime=0):
    (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / name / "social.tsv.gz").write_bytes(gzip.compress(text.encode(), mtime=mtime))


@pytest.fixture
def data(tmp_path):
    """A folder with one dataset without ratings."""
    social(tmp_path / "data", "lastfm")
    return tmp_path / "data"


@pytest.fixture
def output(tmp_path):
    (tmp_path / "results").mkdir()
    return tmp_path / "results"


class Measured:
    """The functions of an experiment that counts how often it is measured."""

    def __init__(self, name, claims=(), text="## Part\n\n| a | b |\n| --- | --- |\n| 1 | <2 |", failure=None, appendix=""):
        self.name, self.claims, self.text, self.failure, self.appendix = name, claims, text, failure, appendix
        self.runs = 0

    def __call__(self):
        return self.measure, self.write_page

    def measure(self, task):
        self.runs += 1
        task.progress("half", 1, 2)
        if self.failure is not None:
            raise self.failure
        return {"run": self.runs}

    def write_page(self, document):
        return Page(self.text, self.claims, lambda figure: figure.subplots(), appendix=self.appendix)


def section(run, **more):
    return Experiment(run.name, f"Title of {run.name}", "", run, "1", "0 to 4", "0", "It is made up.", **more)


def run_all(data, output, *sections, quick=False):
    return list(reproduce_all(str(data), output, quick, quiet, sections))


HOLDS = Claim("A & B.", "a rule", "holds", "numbers")
FAILS = Claim("C.", "another rule", "does not hold", "more numbers")


def test_a_finished_section_is_kept_and_the_report_is_the_same(data, output):
    first = Measured("table1", [HOLDS])
    done = run_all(data, output, section(first))
    report = markdown_report(done, False), html_report(done, False)
    files = {path.name: path.read_bytes() for path in output.iterdir() if path.is_file()}
    assert set(files) == {"table1.json", "table1.md", "table1.png"}
    assert not done[0].kept
    (output / "table1.md").write_text("spoiled")
    (output / "table1.png").unlink()
    again = run_all(data, output, section(first))
    assert first.runs == 1
    assert again[0].kept
    assert again[0].seconds == done[0].seconds
    assert (markdown_report(again, False), html_report(again, False)) == report
    assert {path.name: path.read_bytes() for path in output.iterdir() if path.is_file()} == files


def test_other_settings_version_or_content_is_computed_again_and_other_packing_is_not(data, output):
    run = Measured("table1")
    [before] = run_all(data, output, section(run))
    social(data, "lastfm", mtime=77)
    run_all(data, output, section(run))
    assert run.runs == 1
    run_all(data, output, section(run), quick=True)
    assert run.runs == 2
    run_all(data, output, section(run, version=2))
    assert run.runs == 3
    social(data, "lastfm", "user\tfriend\n1\t2\n2\t3\n")
    run_all(data, output, section(run))
    assert run.runs == 4
    social(data, "lastfm")
    [again] = run_all(data, output, section(run))
    assert run.runs == 4
    assert again == replace(before, kept=True)


def test_a_section_depends_on_the_files_that_it_reads_only(data, output):
    contacts, nothing = Measured("table1"), Measured("scale")
    sections = section(contacts, files=("social",)), section(nothing, files=())
    run_all(data, output, *sections)
    (data / "lastfm" / "ratings.tsv.gz").write_bytes(gzip.compress(b"user\titem\trating\n1\t1\t1\n"))
    run_all(data, output, *sections)
    assert (contacts.runs, nothing.runs) == (1, 1)
    social(data, "douban")
    run_all(data, output, *sections)
    assert (contacts.runs, nothing.runs) == (2, 1)


def test_parts_inside_a_section_belong_to_the_content_of_the_data(data, output):
    places = []

    class Keeping(Measured):
        def measure(self, task):
            places.append(task.parts)
            return super().measure(task)

    run_all(data, output, section(Keeping("table3")))
    social(data, "lastfm", "user\tfriend\n5\t6\n")
    run_all(data, output, section(Keeping("table3")))
    assert len(set(places)) == 2
    assert all(output in place.parents for place in places)


@pytest.mark.parametrize(
    ("failure", "said"),
    [(InputError("ratings are missing"), "ratings are missing"), (ZeroDivisionError("by\nzero"), "ZeroDivisionError: by zero")],
)
def test_a_failure_is_told_and_does_not_stop_the_others(data, output, failure, said):
    bad, good = Measured("table3", failure=failure), Measured("table5", [HOLDS])
    done = run_all(data, output, section(bad), section(good))
    assert [each.failure for each in done] == [said, None]
    page, text = html_report(done, False), markdown_report(done, False)
    assert f"<code>{said}</code>" in page
    assert '<span class="verdict fails">failed</span>' in page
    assert f"**This section failed**: `{said}`" in text
    assert "1 of 2 sections failed" in text
    bad.failure = None
    again = run_all(data, output, section(bad), section(good))
    assert [each.failure for each in again] == [None, None]
    assert (bad.runs, good.runs) == (2, 1)


def test_after_an_interruption_it_goes_on_and_counts_the_time_of_both(data, output, monkeypatch):
    clock = iter([0.0, 30.0, 100.0, 112.0, 200.0, 201.0])
    monkeypatch.setattr("privact.experiments.running.reproduce_all.monotonic", lambda: next(clock))
    first, second = Measured("table1"), Measured("table2", failure=KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        run_all(data, output, section(second))
    assert not (output / "table2.md").exists()
    second.failure = None
    [done] = run_all(data, output, section(second))
    assert done.seconds == 42.0
    assert not list((output / "cells").glob("*.spent"))
    run_all(data, output, section(first), section(second))
    assert (first.runs, second.runs) == (1, 2)


@pytest.mark.parametrize("folder", ["empty", "missing"])
def test_without_any_dataset_it_is_one_line(tmp_path, output, folder):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"no dataset in .*: fetch lastfm, delicious, douban with privact data get NAME"):
        run_all(tmp_path / folder, output, section(Measured("table1")))


def test_without_a_folder_it_says_how_to_name_one(output, monkeypatch):
    monkeypatch.delenv("PRIVACT_DATA", raising=False)
    with pytest.raises(InputError, match="give --data DIR or set PRIVACT_DATA"):
        next(reproduce_all(None, output, False, quiet, []))


def test_progress_counts_sections(data, output):
    told = []
    sections = section(Measured("table1")), section(Measured("table2"))
    list(reproduce_all(str(data), output, False, lambda *said: told.append(said), sections))
    assert [stage for stage, _, _ in told] == [
        "section 1 of 2: table1",
        "section 1 of 2: table1, half",
        "section 2 of 2: table2",
        "section 2 of 2: table2, half",
    ]


class ParsedPage(HTMLParser):
    """Collects what a test asks of a page, and fails if tags do not match."""

    EMPTY = {"meta", "img", "br", "hr"}  # noqa: RUF012

    def __init__(self, page):
        super().__init__()
        self.open, self.ids, self.links, self.loaded = [], [], [], []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag not in self.EMPTY:
            self.open.append(tag)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if "href" in given else []
        self.loaded += [given["src"]] if "src" in given else []

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_stands_alone_and_every_link_leads_somewhere(data, output):
    done = run_all(data, output, section(Measured("table1", [HOLDS])), section(Measured("table2", [FAILS])), quick=True)
    text = html_report(done, True)
    page = ParsedPage(text)
    assert all(source.startswith("data:image/png;base64,") for source in page.loaded)
    assert len(page.loaded) == 2
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)
    assert {"table1", "table2", "made"} <= {link.removeprefix("#") for link in page.links}
    assert text.count('<span class="verdict holds">holds</span>') == 2  # in the summary and in its section
    assert text.count('<span class="verdict fails">does not hold</span>') == 2
    assert "A &amp; B." in text
    assert "&lt;2" in text
    assert "A quick look" in text
    assert "prefers-color-scheme: dark" in text
    assert not re.search(r"https?://", text)


def test_the_markdown_links_pictures_lowers_headings_and_says_how_it_was_made(data, output):
    done = run_all(data, output, section(Measured("table1", [HOLDS])))
    text = markdown_report(done, False)
    assert "| table1 | **Holds** | A & B. |" in text
    assert "![Title of table1](table1.png)" in text
    assert "\n### Part\n" in text
    assert "It is made up." in text
    assert "| table1 | 1 | 0 to 4 |" in text
    made = text.split("## How it was made")[1]
    for package in ("python", "numpy", "numba", "scipy", "opendp", "privact", "platform"):
        assert f"{package} " in made
    assert "`privact reproduce all`" in made


def test_a_claim_is_judged_once_and_an_appendix_is_on_its_own_page_alone(data, output):
    both = Measured("distance", [FAILS, HOLDS], "mine", appendix="## Theirs\n\nnot mine")
    done = run_all(data, output, section(Measured("table5", [HOLDS])), section(both))
    text = markdown_report(done, False)
    assert text.count("**Holds**: A & B.") == 1
    assert "mine" in text
    assert "not mine" not in text
    assert "not mine" in (output / "distance.md").read_text()


def test_the_lead_says_what_is_computed_and_what_is_written(data, output):
    text = markdown_report(run_all(data, output, section(Measured("table1", [HOLDS]))), False)
    assert "Verdicts and numbers are computed" in text
    assert "the notes on what is different are written by hand" in text
    assert "typed" not in text


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.04, "0.0 s"), (9.94, "9.9 s"), (59.6, "60 s"), (125, "2 min"), (2700, "45 min"), (7200, "2.0 h")]
)
def test_durations_are_said_as_a_person_says_them(seconds, said):
    assert duration(seconds) == said


def test_content_of_damaged_files_differs_too(tmp_path):
    social(tmp_path, "lastfm")
    whole = data_content(tmp_path)
    assert list(whole.files) == ["lastfm/social"]
    path = tmp_path / "lastfm" / "social.tsv.gz"
    path.write_bytes(path.read_bytes()[:-3])
    assert data_content(tmp_path).digest != whole.digest
    assert json.dumps(whole.of(("ratings",))) == "{}"
