"""What the MCMC figure measures: log C_M along both chains at three epsilons, and where other trees end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.baselines.cmn import learn_cmn
from privact.baselines.cmn_dp import learn_cmn_dp
from privact.baselines.ldpgen import run_ldpgen
from privact.baselines.likelihood import log_likelihood
from privact.experiments.experiment import Task
from privact.experiments.running.seeded_trees import EPSILONS, denoise, random_partition
from privact.learn.search._swaps import run_chain
from privact.learn.search.learn_tree import learn_tree
from privact.learn.search.search_state import random_state_of, tree_of
from privact.network.graph import ContactGraph
from privact.protocol.round import default_bins
from privact.query.quality import draw_random_tree
from privact.simulate.reports import degree_vectors, simulate_reports
from privact.tree.embedding import Embedding
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["measure", "summarize"]


def measure(task: Task) -> dict[str, Any]:
    """Every chain on every network; a row for each sweep."""
    seeds, sweeps = task.options["seeds"], task.options["sweeps"]
    rows: list[dict[str, Any]] = []
    for name in task.names():
        graph = task.networks.graph(name)
        for seed in range(seeds):
            task.progress(f"{name}: seed {seed + 1} of {seeds}", 0, 0)
            for method, epsilon, trace in traces(graph, seed, sweeps):
                rows += [
                    {
                        "dataset": name,
                        "method": method,
                        "epsilon": epsilon,
                        "seed": seed,
                        "steps_per_n": step,
                        "log_likelihood": float(value),
                    }
                    for step, value in trace
                ]
    return {"seeds": seeds, "sweeps": sweeps, "rows": rows, "final": summarize(rows)}


def traces(graph: ContactGraph, seed: int, sweeps: int) -> Iterator[tuple[str, float | None, list[tuple[int, float]]]]:
    """Method, epsilon and log C_M by steps / n: every sweep of the chains, the end of everything else."""
    rng = np.random.default_rng(seed)
    n, n_bins = graph.n_users, default_bins(graph.n_users)
    vectors = degree_vectors(graph, random_partition(n, n_bins, rng), n_bins)
    degrees = graph.degrees[:, None]
    for epsilon in EPSILONS:
        reports = simulate_reports(vectors, epsilon, rng)
        yield "PrivaCT", epsilon, list(enumerate(chain_likelihood(reports, graph, sweeps, rng)))
        central = learn_cmn_dp(graph, epsilon, sweeps, tree_share=1.0, random_state=rng).log_likelihood_trace
        yield "CMN-DP", epsilon, list(enumerate(central))
        own = np.random.default_rng([seed, round(10 * epsilon)])  # leaves the draws of all other rows as they are
        synthetic = run_ldpgen(graph, epsilon, random_state=own).graph
        yield "LDPGen, then CMN", epsilon, _end(learn_cmn(synthetic, sweeps, random_state=own, window=None).tree, graph, sweeps)
        yield "PrivaCT, default", epsilon, _end(learn_tree(denoise(reports, epsilon), balance=0.0), graph, sweeps)
        noisy = simulate_reports(degrees, epsilon, rng)
        yield "degree only", epsilon, _end(learn_tree(denoise(noisy, epsilon), balance=0.0), graph, sweeps)
    yield "GenTree", None, list(enumerate(chain_likelihood(vectors, graph, sweeps, rng)))
    yield "CMN", None, list(enumerate(learn_cmn(graph, sweeps, random_state=rng, window=None).log_likelihood_trace))
    yield "average linkage", None, _end(learn_tree(vectors, search="linkage"), graph, sweeps)
    yield "degree only", None, _end(learn_tree(degrees, balance=0.0), graph, sweeps)
    yield "random tree", None, _end(draw_random_tree(n, rng), graph, sweeps)


def chain_likelihood(vectors: NDArray[np.int64], graph: ContactGraph, sweeps: int, rng: np.random.Generator) -> list[float]:
    """log C_M at the start of the paper's chain on these vectors and after each sweep. Only an observer can compute it."""
    n = graph.n_users
    state = random_state_of(Embedding.from_counts(vectors), rng)
    found = [log_likelihood(tree_of(state), graph)]
    for _ in range(sweeps):
        run_chain(state, n, 1.0, rng)
        found.append(log_likelihood(tree_of(state), graph))
    return found


def _end(tree: HierarchicalClusterTree, graph: ContactGraph, sweeps: int) -> list[tuple[int, float]]:
    return [(sweeps, log_likelihood(tree, graph))]


def summarize(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Mean and standard deviation over seeds of where each method ends."""
    ends: dict[tuple[str, str, float | None], dict[int, float]] = {}
    for row in rows:  # rows of one run come in order, so the last one stays
        ends.setdefault((row["dataset"], row["method"], row["epsilon"]), {})[row["seed"]] = row["log_likelihood"]
    return [
        {
            "dataset": dataset,
            "method": method,
            "epsilon": epsilon,
            "mean": float(np.mean(list(runs.values()))),
            "spread": float(np.std(list(runs.values()), ddof=1)) if len(runs) > 1 else 0.0,
            "seeds": len(runs),
        }
        for (dataset, method, epsilon), runs in ends.items()
    ]
