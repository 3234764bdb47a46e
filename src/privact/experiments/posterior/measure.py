"""What users are compared by, given their noisy reports: the reports themselves, expected counts, or expected dissimilarity.

Everything here is computed from reports after they were sent: it costs no privacy. Dasgupta's cost is linear in the
dissimilarity, so the tree of best expected cost is the one of the posterior expected dissimilarity.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from privact.experiments.experiment import Task
from privact.experiments.running.kept_parts import KeptParts
from privact.experiments.running.seeded_trees import EPSILONS, SeededNetwork, denoise
from privact.experiments.table2.paper import PAPER
from privact.learn.evidence.count_posterior import CountPosterior
from privact.learn.search.learn_tree import learn_tree
from privact.network.graph import ContactGraph
from privact.protocol.round import default_bins, epsilon_per_report

__all__ = ["METHODS", "measure", "measure_losses"]

METHODS = {
    "paper": "paper's method here",
    "raw": "reports",
    "means": "expected counts",
    "expected": "expected dissimilarity",
}
"""What users are compared by, and how the table calls it; all but the first are searched by our default search."""

FINE = 8.0
"""Expected counts are compared to the nearest eighth of a contact."""


def measure(task: Task) -> dict[str, Any]:
    """Loss of the trees of each method."""
    parts = KeptParts(task.parts)
    seeds, names = task.options["seeds"], task.names()
    rows: list[dict[str, Any]] = []
    done, total = 0, len(names) * seeds
    for name in names:
        graph = task.networks.graph(name)
        runs = []
        for seed in range(seeds):
            task.progress(f"{name}: seed {seed + 1} of {seeds}", done, total)
            described = {
                "experiment": "posterior",
                "dataset": name,
                "users": graph.n_users,
                "contacts": graph.n_edges,
                "seed": seed,
            }
            runs.append(parts.get_or_run(described, lambda g=graph, s=seed: {"losses": measure_losses(g, s)})["losses"])  # type: ignore[misc]
            done += 1
        for epsilon in EPSILONS:
            for method in METHODS:
                values = [run[str(epsilon)][method] for run in runs]
                rows.append(
                    {
                        "dataset": name,
                        "epsilon": epsilon,
                        "method": method,
                        "loss": float(np.mean(values)),
                        "loss_sd": float(np.std(values, ddof=1)) if seeds > 1 else 0.0,
                        "paper": PAPER[name]["loss"][str(epsilon)],
                        "seeds": seeds,
                    }
                )
    return {"seeds": seeds, "rows": rows}


def measure_losses(graph: ContactGraph, seed: int) -> dict[str, dict[str, float]]:
    """Percent of the noise-free GenTree tree's cost that each method loses, by epsilon; all learn from the same reports."""
    run = SeededNetwork(graph, default_bins(graph.n_users), seed)
    found = {}
    for epsilon in EPSILONS:
        reports = run.reports(epsilon)
        means = CountPosterior.fit(reports, epsilon_per_report(epsilon), equal_bins=True).counts(reports)
        trees = {
            "paper": learn_tree(reports, search="gentree", random_state=seed),
            "raw": learn_tree(reports, balance=0.0, random_state=seed),
            "means": learn_tree(np.round(FINE * means), balance=0.0, random_state=seed),
            "expected": learn_tree(denoise(reports, epsilon), balance=0.0, random_state=seed),
        }
        found[str(epsilon)] = {method: run.loss(tree) for method, tree in trees.items()}
    return found
