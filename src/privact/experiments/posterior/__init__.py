"""Posterior: what users are compared by, given their noisy reports."""

from __future__ import annotations

from privact.experiments.experiment import Experiment, Functions, Option

__all__ = ["EXPERIMENT"]


def _load() -> Functions:
    from privact.experiments.posterior.measure import measure
    from privact.experiments.posterior.page import write_page

    return measure, write_page


EXPERIMENT = Experiment(
    name="posterior",
    title="Posterior: what users are compared by",
    summary="Posterior: reports, expected counts or expected dissimilarity as what users are compared by.",
    load=_load,
    epsilon="0.5, 1, 2",
    seeds="0 to 2",
    quick_seeds="0",
    different="The paper learns from the noisy reports as they are. Here the posterior of the true counts is estimated from all "
    "reports of the round. It is computed after reports were sent and costs no privacy.",
    quick="One run of each cell.",
    options=(Option("seeds", 3, "Runs of each cell.", quick=1, minimum=1),),
)
