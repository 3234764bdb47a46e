"""The notes on what is different from the paper: true before anything is measured, and about what is run."""

from __future__ import annotations

import re

from privact.experiments.differences import DIFFERENCES
from privact.experiments.existing import SCALE

OUTCOMES = r"better|worse|nothing more|adds? (nothing|little)|comes? (out|nearest)|worth|strong|goes|equals|converged|none gives"


def test_what_is_different_is_said_without_what_was_measured() -> None:
    said = {name: re.search(rf"\b({OUTCOMES})\b", text) for name, text in DIFFERENCES.items()}
    assert said == dict.fromkeys(DIFFERENCES)


def test_what_is_said_about_folds_and_seeds_is_what_is_run() -> None:
    assert {(scale.folds, scale.seeds, scale.control_seeds) for scale in SCALE.values()} == {(5, 3, 1)}
    assert [name for name, scale in SCALE.items() if scale.in_turn] == ["douban"]
    said = DIFFERENCES["table4"]
    assert "All five folds are run, with three seeds each" in said
    assert "one seed a fold for the controls of SERec" in said
    assert "On douban, the largest, every other SERec has one of the three seeds in each fold, in turn." in said
