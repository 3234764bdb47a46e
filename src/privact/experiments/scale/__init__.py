"""Scale: trees over many users, ours beside other methods."""

from __future__ import annotations

from privact.experiments.experiment import Experiment, Functions

__all__ = ["EXPERIMENT"]


def _load() -> Functions:
    from privact.experiments.scale.measure import measure
    from privact.experiments.scale.page import write_page

    return measure, write_page


EXPERIMENT = Experiment(
    name="scale",
    title="Scale: many users",
    summary="Scale: seconds, memory and utility of trees over many users.",
    load=_load,
    epsilon="1",
    seeds="0",
    quick_seeds="0",
    different="The paper's networks have at most 2,848 users, and its authors do not expect theirs to work past 100,000. "
    "Networks here are made up. Seconds and memory are of the machine that ran this; a busy machine takes longer. `privact bench "
    "scale` measures a million users and more peers.",
    quick="2,000 and 10,000 users, without other methods.",
    files=(),
    resumes=False,
)
