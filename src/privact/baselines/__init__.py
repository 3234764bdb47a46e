"""whole graph -> the trees and graphs that the method is compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privact.baselines.cmn import learn_cmn as learn_cmn
    from privact.baselines.cmn_dp import learn_cmn_dp as learn_cmn_dp
    from privact.baselines.ldpgen import run_ldpgen as run_ldpgen
    from privact.baselines.likelihood import log_likelihood as log_likelihood
    from privact.baselines.linkage_peers import GRAPH_LEARNERS as GRAPH_LEARNERS
    from privact.baselines.linkage_peers import TREE_LEARNERS as TREE_LEARNERS
    from privact.baselines.randomized_response import explain_randomized_response as explain_randomized_response
else:
    from privact.exports import export_lazily

    __all__, __getattr__, __dir__ = export_lazily(
        __name__,
        {
            "privact.baselines.cmn": ["learn_cmn"],
            "privact.baselines.cmn_dp": ["learn_cmn_dp"],
            "privact.baselines.ldpgen": ["run_ldpgen"],
            "privact.baselines.likelihood": ["log_likelihood"],
            "privact.baselines.linkage_peers": ["GRAPH_LEARNERS", "TREE_LEARNERS"],
            "privact.baselines.randomized_response": ["explain_randomized_response"],
        },
    )
