"""The files beside the code: they parse, agree with each other, and name only settings and options that exist."""

from __future__ import annotations

import re
import tomllib

import pytest
import yaml

import privact
from privact.aggregator.settings import Settings, read_settings
from reference.commands import all_commands

from .fences import ROOT

SERVE = next(command for command in all_commands() if command.path == ("serve",))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_citation_names_the_software_and_the_paper() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors", "type", "license"} <= set(citation)
    assert (citation["version"], citation["license"]) == (PROJECT["version"], PROJECT["license"])
    paper = citation["preferred-citation"]
    assert {"type", "title", "authors", "year", "doi"} <= set(paper)
    assert paper["title"] in " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert [author["family-names"] for author in paper["authors"]] == ["Kolluri", "Baluta", "Saxena"]


def test_the_changelog_begins_with_this_version() -> None:
    first = re.search(r"(?m)^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    assert first is not None
    assert first[1] == PROJECT["version"] == privact.__version__


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"])
def test_a_top_level_page_is_one_page(name: str) -> None:
    assert len((ROOT / name).read_text(encoding="utf-8").splitlines()) <= 125


def test_files_that_contributing_names_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:src|tests|tools|docs)/[\w./]+)`", text)
    assert len(named) > 15
    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("path", ["deploy/privact.service", "deploy/Dockerfile", "docs/operate.md"])
def test_options_of_serve_that_deployment_uses_exist(path: str) -> None:
    options = {option for written, _ in SERVE.parameters() for option in re.findall(r"--[\w-]+", written)}
    calls = re.findall(r"privact\"?,? \"?serve\b(.*)", (ROOT / path).read_text(encoding="utf-8"))
    used = {option for call in calls for option in re.findall(r"(?<=[\s\"`])--[\w-]+", call)}
    assert used
    assert used - options == set()


@pytest.mark.parametrize("path", ["deploy/privact.service", "deploy/Dockerfile", "docs/operate.md"])
def test_variables_that_deployment_sets_exist(path: str) -> None:
    known = {f"PRIVACT_{name.upper()}" for name in Settings.model_fields} | {"PRIVACT_CONFIG", "PRIVACT_URL"}
    used = set(re.findall(r"PRIVACT_[A-Z_]+", (ROOT / path).read_text(encoding="utf-8")))
    assert used
    assert used - known == set()


def test_the_settings_of_the_service_are_settings() -> None:
    given = tomllib.loads((ROOT / "deploy" / "privact.toml").read_text(encoding="utf-8"))
    read = read_settings(ROOT / "deploy" / "privact.toml")
    assert {name: getattr(read, name) for name in given} == given


def test_proxies_take_what_the_server_takes() -> None:
    from privact.aggregator.domain.suggestions.recommendations import LONGEST

    megabytes = LONGEST // 2**20
    assert f"max_size {megabytes}MiB" in (ROOT / "deploy" / "Caddyfile").read_text(encoding="utf-8")
    assert f"client_max_body_size {megabytes}m;" in (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
    port = Settings.model_fields["port"].default
    for name in ("Caddyfile", "nginx.conf", "Dockerfile"):
        assert str(port) in (ROOT / "deploy" / name).read_text(encoding="utf-8")


def test_the_service_stops_later_than_the_server_drains() -> None:
    text = (ROOT / "deploy" / "privact.service").read_text(encoding="utf-8")
    assert int(re.findall(r"TimeoutStopSec=(\d+)", text)[0]) > Settings.model_fields["drain_seconds"].default


def test_the_site_names_no_other_host() -> None:
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "://" not in settings
    assert "font: false" in settings
    assert "strict: true" in settings
    styles = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "stylesheets").iterdir())
    assert "url(" not in styles
