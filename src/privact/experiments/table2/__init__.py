"""Table 2 of the paper: relative utility of the trees, and the loss to noise at each epsilon."""

from __future__ import annotations

from privact.experiments.experiment import Experiment, Functions, Option

__all__ = ["EXPERIMENT"]


def _load() -> Functions:
    from privact.experiments.table2.measure import measure
    from privact.experiments.table2.page import write_page

    return measure, write_page


EXPERIMENT = Experiment(
    name="table2",
    title="Table 2: quality of private trees",
    summary="Table 2: relative utility of the trees, and what noise costs.",
    load=_load,
    epsilon="0.5, 1, 2",
    seeds="0 to 4",
    quick_seeds="0",
    different="The paper's text says Laplace noise of scale 1/epsilon. Here the scale is 2/epsilon: both ends report a contact, "
    "and epsilon is the promise for both together. Bins are drawn at random, so that they cannot follow the order of the "
    "files. *Default* is not the paper's: it starts from average linkage instead of a random tree and compares users by "
    "the posterior of their counts, which costs no privacy, as it is computed from the same reports.",
    quick="One run of each cell.",
    options=(Option("seeds", 5, "Runs of each cell.", quick=1, minimum=1),),
    resumes=False,
)
