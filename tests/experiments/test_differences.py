"""The notes on what is different from the paper: true before anything is measured, and about what is run."""

from __future__ import annotations

import re

from privact.experiments.differences import DIFFERENCES
from privact.experiments.existing import FULL, Scale

OUTCOMES = r"better|worse|nothing more|adds? (nothing|little)|comes? (out|nearest)|worth|strong|goes|equals|converged|none gives"


def test_what_is_different_is_said_without_what_was_measured() -> None:
    said = {name: re.search(rf"\b({OUTCOMES})\b", text) for name, text in DIFFERENCES.items()}
    assert said == dict.fromkeys(DIFFERENCES)


def test_what_is_said_about_folds_and_seeds_is_what_is_run() -> None:
    assert Scale(folds=5, seeds=3) == FULL
    assert "All five folds are run, with three seeds each" in DIFFERENCES["table4"]
