"""The registry: every experiment has what a command and a section need, and its notes are true before it is measured."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import privact.experiments
from privact.cli.main import app
from privact.errors import InputError
from privact.experiments.experiment import Option
from privact.experiments.registry import EXPERIMENTS
from privact.experiments.table4.measure import FULL, Scale

OUTCOMES = r"better|worse|nothing more|adds? (nothing|little)|comes? (out|nearest)|worth|strong|goes|equals|converged|none gives"
DIFFERENT = {experiment.name: experiment.different for experiment in EXPERIMENTS}


def test_every_folder_with_a_page_is_registered_under_its_name() -> None:
    folder = Path(privact.experiments.__file__).parent
    assert {path.parent.name for path in folder.glob("*/page.py")} == {experiment.name for experiment in EXPERIMENTS}
    assert len(DIFFERENT) == len(EXPERIMENTS)


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.name)
def test_an_experiment_has_both_functions_and_a_command(experiment) -> None:
    measure, write_page = experiment.load()
    assert (measure.__name__, write_page.__name__) == ("measure", "write_page")
    shown = CliRunner().invoke(app, ["reproduce", experiment.name, "--help"]).output
    for option in (*(f"--{option.name}" for option in experiment.options), "--data", "--output", "--json"):
        assert option in shown
    assert ("--quick" in shown) == bool(experiment.quick)
    if experiment.evaluates:
        shown = CliRunner().invoke(app, ["evaluate", experiment.evaluates, "--help"]).output
        assert "--contacts" in shown
        assert "--network" in shown


def test_what_is_different_is_said_without_what_was_measured() -> None:
    said = {name: re.search(rf"\b({OUTCOMES})\b", text) for name, text in DIFFERENT.items()}
    assert said == dict.fromkeys(DIFFERENT)
    assert all(DIFFERENT.values())


def test_what_is_said_about_folds_and_seeds_is_what_is_run() -> None:
    assert Scale(folds=5, seeds=3) == FULL
    assert "All five folds are run, with three seeds each" in DIFFERENT["table4"]


def test_an_option_outside_its_range_is_refused_in_one_line() -> None:
    folds = Option("folds", 5, "Folds.", quick=1, minimum=1, maximum=5)
    assert (folds.default_of(False), folds.default_of(True), folds.check(5)) == (5, 1, 5)
    for value in (0, 6):
        with pytest.raises(InputError, match=f"folds = {value} is outside its range: choose at least 1, at most 5"):
            folds.check(value)
