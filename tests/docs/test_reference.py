"""Nothing is undocumented: every command, option, setting, request and public name is in the reference, with a meaning."""

from __future__ import annotations

import html
import importlib
import inspect
import pkgutil
import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

import privact
import privact.recommend
from privact.aggregator.settings import Settings
from privact.recommend.recommender import Recommender
from reference import commands as commands_module
from reference.commands import Command, all_commands, commands_page
from reference.docstrings import as_markdown
from reference.names import PAGES, Page, names_page, package_page, page_of, public_names
from reference.requests import document, requests_page
from reference.settings import settings_page

from .fences import PAGES as WRITTEN
from .fences import ROOT

COMMANDS = list(all_commands())
LEAVES = [command for command in COMMANDS if not command.is_group]
PROSE = "\n".join(page.read_text(encoding="utf-8") for page in WRITTEN)


@cache
def the_commands() -> str:
    """The page of commands, made once."""
    return commands_page()


def undocumented(command: Command) -> list[str]:
    """What of a command has no meaning: the command itself, or some of its parameters."""
    missing = [] if (command.command.help or "").strip() else [command.name]
    return missing + [f"{command.name} {written}" for written, meaning in command.parameters() if not _said(meaning)]


def _said(meaning: str) -> str:
    """A meaning without what typer adds in brackets."""
    return re.sub(r"\[[^\]]*\]", "", meaning).strip()


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_command_is_in_the_reference_with_everything_it_takes(command: Command) -> None:
    assert undocumented(command) == []
    section = re.split(r"(?m)^#{1,4} ", the_commands().split(f" {command.name}\n", 1)[1])[0]
    for written, _ in [] if command.is_group else command.parameters():
        assert f"`{written}`".replace("|", "\\|") in section, written


@pytest.mark.parametrize("command", LEAVES, ids=lambda command: command.name)
def test_a_command_is_on_a_page_that_a_person_wrote(command: Command) -> None:
    assert re.search(rf"{re.escape(command.name)}(?![\w-])", PROSE), f"no page in docs/ shows `{command.name}`"


def test_a_command_without_a_meaning_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    import typer

    app = typer.Typer()

    @app.command()
    def quiet(loud: int = 1) -> None:
        pass

    @app.command("told")
    def told() -> None:
        """Say something."""

    monkeypatch.setattr(commands_module, "app", app)
    found = [missing for command in commands_module.all_commands() for missing in undocumented(command)]
    assert found[0] == "privact quiet"
    assert found[1].startswith("privact quiet --loud")
    assert len(found) == 2


@pytest.mark.parametrize("name", Settings.model_fields)
def test_a_setting_is_in_the_reference(name: str) -> None:
    description = Settings.model_fields[name].description
    assert description
    assert f"## {name}\n\n{description}" in html.unescape(settings_page())
    assert f"`PRIVACT_{name.upper()}`" in settings_page()


def test_every_request_and_every_answer_is_in_the_reference() -> None:
    page, api = requests_page(), document()
    for path, methods in api["paths"].items():
        for method, operation in methods.items():
            section = page.split(f"### {method.upper()} {path}\n")[1].split("\n### ")[0]
            assert operation["description"].strip() in section
            for parameter in operation.get("parameters", []):
                row = next(line for line in section.splitlines() if line.startswith(f"| `{parameter['name']}` |"))
                assert not row.endswith("|  |"), f"{path}: {parameter['name']} has no meaning"
            assert all(f"| {status} |" in section for status in operation["responses"])
    for name in api["components"]["schemas"]:
        assert f"### {name}\n" in page


@pytest.mark.parametrize("name", privact.__all__)
def test_a_public_name_is_in_the_reference(name: str) -> None:
    row = next(line for line in names_page().splitlines() if line.startswith(f"| [`{name}`]"))
    assert not row.endswith("|  |")
    page = page_of(name)
    assert f"::: {page.module}.{name}\n" in package_page(page)


def test_every_package_that_exports_names_has_a_page() -> None:
    packages = {f"privact.{found.name}" for found in pkgutil.iter_modules(privact.__path__) if found.ispkg}
    exporting = {name for name in packages if getattr(importlib.import_module(name), "__all__", [])}
    assert exporting - {page.module for page in PAGES} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_exported_name_has_a_docstring(page: Page) -> None:
    names = public_names(page)
    assert names
    module = importlib.import_module(page.module)
    for name in names:
        value = getattr(module, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert (value.__doc__ or "").strip(), name
            assert not (value.__doc__ or "").startswith(f"{name}("), name  # what a dataclass without a docstring gets
        if inspect.isclass(value) and value.__module__.startswith("privact"):
            methods = {key: each for key, each in vars(value).items() if inspect.isfunction(each) and not key.startswith("_")}
            assert [key for key, each in methods.items() if not inspect.getdoc(getattr(value, key))] == []


def imported_names(text: str) -> list[tuple[str, str]]:
    """Module and name of every `from privact... import ...` in a page."""
    lines = re.findall(r"from (privact[\w.]*) import ([\w, ]+)", text)
    return [(module, name.strip()) for module, names in lines for name in names.split(",")]


@pytest.mark.parametrize("page", [*WRITTEN, ROOT / "README.md"], ids=lambda page: page.name)
def test_pages_import_only_exported_names(page: Path) -> None:
    for module, name in imported_names(page.read_text(encoding="utf-8")):
        assert module.count(".") <= 1, f"{page.name}: import {name} from the package, not from {module}"
        assert name in importlib.import_module(module).__all__, f"{page.name}: {module} does not export {name}"


def test_pages_do_import_names() -> None:
    assert len(imported_names(PROSE)) > 10


def test_every_recommender_is_in_the_reference() -> None:
    for found in pkgutil.walk_packages(privact.recommend.__path__, "privact.recommend."):
        module = importlib.import_module(found.name)
        for name, kind in vars(module).items():
            own = inspect.isclass(kind) and kind.__module__ == found.name and not name.startswith("_")
            if own and issubclass(kind, Recommender) and not inspect.isabstract(kind):
                assert name in privact.recommend.__all__, f"privact.recommend does not export {name}"


def test_the_menu_has_every_page_once() -> None:
    class Loader(yaml.SafeLoader):
        """Reads the site's settings; tags name functions, which are not needed here."""

    Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, suffix, node: suffix)
    menu = yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), Loader)["nav"]
    listed = re.findall(r"[\w/.-]+\.md", str(menu))
    written = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    made = {"changelog.md", "notebook.md", "reference/python/index.md", *(f"reference/python/{page.name}.md" for page in PAGES)}
    made |= {f"reference/{name}.md" for name in ("commands", "http", "settings")}
    assert sorted(listed) == sorted(written | made)


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("Count.", "Count."),
        ("Count.\n\nn: how many,\n    in all.\nm: more.", "Count.\n\n- **n**: how many,\n    in all.\n- **m**: more."),
        ("a, b: two.", "- **a, b**: two."),
        ("Read: prose.", "Read: prose."),
        (">>> 1 + 1\n2", "```pycon\n>>> 1 + 1\n2\n```"),
        ("A\n ├── B", "```text\nA\n ├── B\n```"),
        ("at [x][y]", "at [x]\\[y]"),
    ],
)
def test_docstrings_become_markdown(text: str, markdown: str) -> None:
    assert as_markdown(text) == markdown


def test_a_group_is_told_from_a_command() -> None:
    assert Command((), SimpleNamespace(list_commands=list)).is_group
    assert not Command((), SimpleNamespace()).is_group
