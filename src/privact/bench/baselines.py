"""Everything that `privact bench baselines` measures, as one dictionary.

Keys: `cmn` and `cmn_dp`, the chain of the hierarchical random graph on lastfm at temperature 1 and as CMN-DP runs it with
all of epsilon 1 spent on the tree; `target`, the proposals a second that are asked for. Each chain has

- `network`, `n_users`, `n_edges`: what it ran on; `temperature`: how hot;
- `warm_sweeps`: sweeps from a random tree before the clock started; `accepted_share`: how many proposals were then taken;
- `proposals_per_second`: of the compiled chain, the best of `repeats` runs of `timed_sweeps` sweeps (other work on the
  machine can only slow one down), and `runs`, all of them;
- `plain_proposals_per_second`: of its plain twin from the same warm tree, over `plain_proposals`; `ratio`: of the two.

They are stable: later versions add keys and keep these.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from privact.bench.benchmark import Speed, Table, Task
from privact.network.datasets import load_dataset
from privact.network.graph import ContactGraph

__all__ = ["list_speeds", "make_tables", "measure"]

NETWORK = "lastfm"
TARGET = 1_000_000.0
WARM_SWEEPS = 400
TIMED_SWEEPS = 100
REPEATS = 5
PLAIN_PROPOSALS = 1_000


def measure(task: Task) -> dict[str, Any]:
    """Both chains."""
    from privact.baselines.cmn_dp import log_likelihood_sensitivity

    graph = load_dataset(NETWORK, task.data).graph
    result: dict[str, Any] = {"target": TARGET}
    for name, temperature in (("cmn", 1.0), ("cmn_dp", 2.0 * log_likelihood_sensitivity(graph.n_users))):
        task.show(f"{NETWORK}: chain of {name} and its plain twin")
        result[name] = {"network": NETWORK, **measure_chain(graph, temperature)}
    return result


def measure_chain(graph: ContactGraph, temperature: float) -> dict[str, Any]:
    """Proposals a second of the compiled chain in a warm state, and of its plain twin from the same tree."""
    from privact.baselines._cmn import run_chain
    from privact.baselines.cmn_plain import PlainChain
    from privact.baselines.cmn_state import random_start, state_of

    n = graph.n_users
    rng = np.random.default_rng(0)
    state = state_of(graph, random_start(graph, rng))
    run_chain(state, WARM_SWEEPS * n, temperature, rng)
    adjacency = graph.to_scipy().toarray().tolist()
    plain = PlainChain(adjacency, state.left.tolist(), state.right.tolist(), state.parent.tolist())
    begin = time.perf_counter()
    plain.run(PLAIN_PROPOSALS, temperature, np.random.default_rng(1))
    plain_speed = PLAIN_PROPOSALS / (time.perf_counter() - begin)
    runs, accepted = [], 0
    for _ in range(REPEATS):
        begin = time.perf_counter()
        accepted += run_chain(state, TIMED_SWEEPS * n, temperature, rng)
        runs.append(TIMED_SWEEPS * n / (time.perf_counter() - begin))
    return {
        "n_users": n,
        "n_edges": graph.n_edges,
        "temperature": temperature,
        "warm_sweeps": WARM_SWEEPS,
        "timed_sweeps": TIMED_SWEEPS,
        "repeats": REPEATS,
        "accepted_share": accepted / (REPEATS * TIMED_SWEEPS * n),
        "proposals_per_second": max(runs),
        "runs": runs,
        "plain_proposals": PLAIN_PROPOSALS,
        "plain_proposals_per_second": plain_speed,
        "ratio": max(runs) / plain_speed,
    }


def make_tables(result: dict[str, Any]) -> list[Table]:
    """One row for each chain."""
    rows = [
        [
            name.replace("_", "-").upper(),
            result[name]["network"],
            f"{result[name]['proposals_per_second']:,.0f}",
            f"{result[name]['plain_proposals_per_second']:,.0f}",
            f"{result[name]['ratio']:,.0f}",
        ]
        for name in ("cmn", "cmn_dp")
    ]
    title = "Proposed swaps a second once caches are warm, and how many times its plain twin's"
    return [Table(title, ["chain", "network", "compiled", "plain twin", "ratio"], rows, range(2, 5))]


def list_speeds(result: dict[str, Any]) -> list[Speed]:
    """Proposals a second of both chains."""
    return [
        Speed(f"chain of {name}", result[name]["proposals_per_second"], "proposals/s", more_is_better=True)
        for name in ("cmn", "cmn_dp")
    ]
