"""Every experiment, in the order of the report.

A new one is a folder with measure.py and page.py whose `__init__` declares an `EXPERIMENT`, and one line here: its command, and
its section in the report, come from this list.
"""

from __future__ import annotations

from privact.experiments import (
    bins,
    communities,
    distance,
    figure5,
    people,
    posterior,
    scale,
    table1,
    table2,
    table3,
    table4,
    table5,
)
from privact.experiments.experiment import Experiment

__all__ = ["EXPERIMENTS"]

EXPERIMENTS: tuple[Experiment, ...] = (
    table1.EXPERIMENT,
    table2.EXPERIMENT,
    figure5.EXPERIMENT,
    table3.EXPERIMENT,
    table4.EXPERIMENT,
    table5.EXPERIMENT,
    distance.EXPERIMENT,
    communities.EXPERIMENT,
    people.EXPERIMENT,
    bins.EXPERIMENT,
    posterior.EXPERIMENT,
    scale.EXPERIMENT,
)
"""The tables and figures of the paper first, then ours."""
