"""The MCMC figure of the paper (its Figure 5): log C_M along the chains of PrivaCT and of the centralized CMN-DP."""

from __future__ import annotations

from privact.experiments.experiment import Experiment, Functions, Option

__all__ = ["EXPERIMENT"]


def _load() -> Functions:
    from privact.experiments.figure5.measure import measure
    from privact.experiments.figure5.page import write_page

    return measure, write_page


EXPERIMENT = Experiment(
    name="figure5",
    title="MCMC figure: PrivaCT and CMN-DP by log C_M",
    summary="The MCMC figure: log C_M along the chains of PrivaCT and of the centralized CMN-DP.",
    load=_load,
    epsilon="0.5, 1, 2",
    seeds="0 to 2",
    quick_seeds="0",
    different="The paper compares PrivaCT with CMN-DP. We add a tree that knows nothing but each user's noisy number of contacts "
    "(*degree only*) and a random tree, because how many contacts a user has shows in every bin: without them one cannot "
    "tell what else a tree knows. CMN-DP spends all of epsilon on the tree, as nothing else is measured here. The chains "
    "have the paper's length; they were not run on until they settle.",
    quick="One run of each curve.",
    options=(
        Option("seeds", 3, "Runs of each curve.", quick=1, minimum=1),
        Option("sweeps", 400, "Length of the chains; a sweep is n proposed swaps.", minimum=1),
    ),
    version=2,
    resumes=False,
)
