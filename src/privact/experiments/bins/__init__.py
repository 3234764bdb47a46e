"""Bins: what their number and their meaning make a tree see."""

from __future__ import annotations

from privact.experiments.experiment import Experiment, Functions

__all__ = ["EXPERIMENT"]


def _load() -> Functions:
    from privact.experiments.bins.measure import measure
    from privact.experiments.bins.page import write_page

    return measure, write_page


EXPERIMENT = Experiment(
    name="bins",
    title="Bins: what they make the tree see",
    summary="Bins: what their number and their meaning make a tree see.",
    load=_load,
    epsilon="0.5, 1, 2",
    seeds="0, 1",
    quick_seeds="0",
    different="The paper takes floor(ln n) random bins and varies neither their number nor what they mean; here both are varied. "
    "Its networks have no home servers, so the second part is on a made-up network, in which servers and tastes follow "
    "communities by construction: it can show what labels do there, not what they will do elsewhere.",
    quick="lastfm only, one run, a smaller made-up network.",
)
