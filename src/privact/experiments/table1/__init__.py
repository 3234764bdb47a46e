"""Table 1 of the paper: the sizes of the three networks."""

from __future__ import annotations

from privact.experiments.experiment import Experiment, Functions

__all__ = ["EXPERIMENT"]


def _load() -> Functions:
    from privact.experiments.table1.measure import measure
    from privact.experiments.table1.page import write_page

    return measure, write_page


EXPERIMENT = Experiment(
    name="table1",
    title="Table 1: the networks",
    summary="Table 1: the sizes of the three networks.",
    load=_load,
    epsilon="none",
    seeds="none",
    quick_seeds="none",
    different="Nothing: these are the paper's networks, the largest connected component of each. If a row differs, the files are "
    "not the paper's and nothing below can be compared with it.",
    resumes=False,
)
