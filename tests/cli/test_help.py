from __future__ import annotations

import subprocess
import sys

import pytest
import typer

import privact
from privact.cli.main import app

EXPECTED = {
    "learn", "nearest", "community", "cut", "info", "cost", "quality", "bound", "convert", "show", "demo", "bench tree",
    "bench service", "bench shape", "serve", "simulate", "round create", "round open", "round close", "users add", "device join",
    "device answer", "device status", "audit epsilon", "audit release", "audit poisoning", "recommend", "taste",
    "evaluate cold-start", "evaluate existing", "reproduce table3",
    "reproduce table4", "reproduce table5", "reproduce distance", "reproduce communities", "bench scale",
    "reproduce all", "data get", "data list",
}  # fmt: skip


HEAVY = {
    "numba", "scipy", "pyarrow", "opendp", "matplotlib", "networkx", "fastapi", "sqlalchemy", "httpx", "distributed",
}  # fmt: skip


def commands(group, path=()):
    """The path of every command below a group."""
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        if hasattr(command, "list_commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name)


COMMANDS = sorted(commands(typer.main.get_command(app)))


def test_the_promised_commands_are_there():
    assert {" ".join(command) for command in COMMANDS} >= EXPECTED


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_explains_itself_with_an_example_and_can_answer_in_json(run, command):
    text = run(*command, "--help").stdout
    example = text.split("Example:\n")[1].splitlines()[0]
    assert example.split()[: len(command) + 1] == ["privact", *command]
    assert "--json" in text


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_the_examples_name_options_that_exist(run, command):
    text = run(*command, "--help").stdout
    described, examples = text.split("Example:\n")
    options = {word for word in examples.split() if word.startswith("-")}
    assert {option for option in options if option not in described} == set()


def test_the_list_of_commands_fits_80_columns_and_is_not_cut_off(run):
    text = run("--help").stdout
    assert max(map(len, text.splitlines())) <= 80
    assert "..." not in text.split("Commands:")[1]
    assert run().stdout == text
    assert run("-h").stdout == text


def test_the_version_is_the_installed_one(run):
    assert run("--version").stdout == f"privact {privact.__version__}\n"


@pytest.mark.parametrize("arguments", [["--help"], ["nearest", "--help"], ["bench", "--help"], ["--version"]], ids=" ".join)
def test_help_loads_nothing_heavy(arguments):
    code = (
        "import sys\nfrom privact.cli.main import app\n"
        f"try:\n    app({arguments!r})\nexcept SystemExit as end:\n    assert end.code == 0\n"
        f"heavy = {HEAVY | {'numpy'}!r} & set(sys.modules)\n"
        "print(sorted(heavy), file=sys.stderr)"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert finished.stderr.strip() == "[]"


def test_a_query_loads_nothing_heavy_either(tree):
    queries = [["nearest", str(tree), "ann"], ["community", str(tree), "ann", "--size", "3"], ["info", str(tree)]]
    code = (
        "import sys\nfrom privact.cli.main import app\n"
        f"for query in {queries!r}:\n"
        "    try:\n        app(query)\n    except SystemExit as end:\n        assert end.code == 0\n"
        f"heavy = {HEAVY!r} & set(sys.modules)\n"
        "print(sorted(heavy), file=sys.stderr)"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert finished.stderr.splitlines()[-1] == "[]"  # before it: what a tree of one round cannot show
