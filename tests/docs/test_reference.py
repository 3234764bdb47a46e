"""Nothing is undocumented: every command, option, setting, request and public name is in the reference, with a meaning."""

from __future__ import annotations

import ast
import html
import importlib
import inspect
import pkgutil
import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

import privact
import privact.recommend
from privact.aggregator.settings import Settings
from privact.recommend.recommender import Recommender
from reference import commands as commands_module
from reference.commands import Command, all_commands, commands_page
from reference.docstrings import as_markdown
from reference.names import PAGES, home_of, names_page, package_page
from reference.requests import document, requests_page
from reference.settings import settings_page

from .fences import PAGES as WRITTEN
from .fences import ROOT

COMMANDS = list(all_commands())
LEAVES = [command for command in COMMANDS if not command.is_group]
MODULES = [module for page in PAGES for module in page.modules]
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
    home = home_of(name)
    assert home in MODULES
    row = next(line for line in names_page().splitlines() if line.startswith(f"| [`{name}`]"))
    assert not row.endswith("|  |")
    page = next(page for page in PAGES if home in page.modules)
    assert f"::: {home}\n" in package_page(page)


def described(module: str) -> dict[str, str]:
    """The docstring of every public name that a module defines: of functions, classes, methods and constants."""
    source = Path(importlib.import_module(module).__file__ or "").read_text(encoding="utf-8")
    exported = getattr(importlib.import_module(module), "__all__", None)
    found: dict[str, str] = {}
    body = ast.parse(source).body
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            found[node.name] = ast.get_docstring(node) or found.get(node.name, "")
            for method in node.body if isinstance(node, ast.ClassDef) else []:
                if isinstance(method, ast.FunctionDef) and not method.name.startswith("_"):
                    found[f"{node.name}.{method.name}"] = ast.get_docstring(method) or ""
        elif isinstance(node, ast.Assign | ast.AnnAssign) and exported:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            text = after.value.value if _is_text(after) else ""  # type: ignore[union-attr]
            found |= {one.id: text for one in targets if isinstance(one, ast.Name) and one.id in exported}
    return found


def _is_text(node: Any) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


@pytest.mark.parametrize("module", MODULES)
def test_everything_that_a_module_of_the_reference_offers_has_a_docstring(module: str) -> None:
    names = described(module)
    assert names
    assert inspect.getdoc(importlib.import_module(module))
    functions_and_classes = {name: text for name, text in names.items() if not name.isupper() and not _is_alias(module, name)}
    assert [name for name, text in functions_and_classes.items() if not text.strip()] == []


def _is_alias(module: str, name: str) -> bool:
    """Whether a name stands for a type, such as a choice of words: its meaning is where it is used."""
    value = getattr(importlib.import_module(module), name.split(".")[0])
    return not (inspect.isclass(value) or inspect.isfunction(value) or callable(value)) or "typing" in type(value).__module__


def test_every_recommender_is_in_the_reference() -> None:
    for found in pkgutil.iter_modules(privact.recommend.__path__, "privact.recommend."):
        module = importlib.import_module(found.name)
        for name, kind in vars(module).items():
            own = inspect.isclass(kind) and kind.__module__ == found.name and not name.startswith("_")
            if own and issubclass(kind, Recommender) and not inspect.isabstract(kind):
                assert found.name in MODULES, f"{name} is in no page of tools/reference/names.py"


def test_the_menu_has_every_page_once() -> None:
    class Loader(yaml.SafeLoader):
        """Reads the site's settings; tags name functions, which are not needed here."""

    Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, suffix, node: suffix)
    menu = yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), Loader)["nav"]
    listed = re.findall(r"[\w/.-]+\.md", str(menu))
    written = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    made = {"changelog.md", "reference/python/index.md", *(f"reference/python/{page.name}.md" for page in PAGES)}
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
