"""Everything that `privact bench refine` measures: what a series of rounds finds on planted blocks and on real networks.

Key `rows`: one for each network and total epsilon, means over `seeds` runs:

- `network`, `epsilon` (null without noise), `rounds`, `seeds`;
- `ari`: adjusted Rand index of the groups found against the planted blocks; null on real networks;
- `modularity`: of the groups found; `evidence`: the series' own figure, which sees communities above 7;
- `share_of_contacts`: true contacts among a user's m nearest in the tree, m the number of contacts; `one_round_share`: the same
  for one round of all the epsilon;
- `controls`: the same for what a series is compared with, see controls.py, on the first of the networks.

Key `million`: what inference takes on a million users, see million.py.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.bench.benchmark import Speed, Table, Task
from privact.bench.rounds.controls import CONTROLS, measure_controls, measure_modularity
from privact.bench.rounds.million import measure_million
from privact.errors import InputError
from privact.learn.evidence.series.series_length import choose_rounds
from privact.network.graph import ContactGraph

__all__ = ["list_speeds", "make_tables", "measure"]

BLOCKS = {
    "blocks 4 x 100": (4, 100, 0.2, 0.01, (4.0, None)),
    "blocks 8 x 500, sparse": (8, 500, 0.06, 0.002, (4.0, None)),
    "blocks 8 x 500, dense": (8, 500, 0.12, 0.004, (2.0, None)),
}
"""Planted partitions: blocks, users of each, chance of a contact inside and across, and the total epsilons to measure."""

COMPARED = {
    ("blocks 4 x 100", 4.0),
    ("blocks 8 x 500, sparse", 4.0),
    ("blocks 8 x 500, dense", 2.0),
    *(("facebook", epsilon) for epsilon in (0.5, 1.0, 2.0, 4.0)),
}
LENGTHS = (3, 4, 5)
"""Rows that are measured with several numbers of rounds, to choose the usual number by, and these numbers."""

REAL = {"facebook": (0.5, 1.0, 2.0, 4.0), "lastfm": (1.0,), "delicious": (1.0,), "douban": (1.0,)}
"""Networks of the data folder, and the total epsilons to measure."""

NULL = "no communities, 4,000 users"
NULL_EPSILONS = (1.0, 4.0)


def measure(task: Task) -> dict[str, Any]:
    """Every row."""
    rounds, seeds = int(task.options["rounds"]), int(task.options["seeds"])
    if rounds == 1:
        raise InputError("--rounds 1 is no series: give 2 or more, or 0 for the usual number")
    rows: list[dict[str, Any]] = []
    few = 1 if task.quick else None
    for name, (n_blocks, size, inside, across, epsilons) in list(BLOCKS.items())[:few]:
        for epsilon in epsilons[:few]:
            networks = [plant_blocks(n_blocks, size, inside, across, np.random.default_rng(seed)) for seed in range(seeds)]
            rows += _measure_rows(task, name, networks, epsilon, rounds)
    for name, real_epsilons in list(REAL.items())[:few]:
        graph = _read_real(name, task.data)
        for epsilon in real_epsilons[:few]:
            networks = [_shuffle(graph, np.random.default_rng(seed)) for seed in range(seeds)]
            rows += _measure_rows(task, name, networks, epsilon, rounds)
    for epsilon in NULL_EPSILONS[:few]:
        networks = [draw_null_network(4_000, np.random.default_rng(seed)) for seed in range(seeds)]
        rows += _measure_rows(task, NULL, networks, epsilon, rounds)
    task.show("a million users")
    return {"rows": rows, "million": measure_million(20_000 if task.quick else 1_000_000)}


def plant_blocks(
    n_blocks: int, size: int, inside: float, across: float, rng: np.random.Generator
) -> tuple[ContactGraph, NDArray[np.int64] | None]:
    """A stochastic block model with users in random order, and the block of each user of the graph."""
    block = rng.permutation(np.repeat(np.arange(n_blocks), size))
    first, second = np.triu_indices(len(block), 1)
    there = rng.random(len(first)) < np.where(block[first] == block[second], inside, across)
    graph = ContactGraph.from_edges(np.column_stack([first[there], second[there]]))
    return graph, block[[int(user) for user in graph.users]]


def draw_null_network(n_users: int, rng: np.random.Generator) -> tuple[ContactGraph, NDArray[np.int64] | None]:
    """A network whose degrees vary as in social networks and whose contacts are random."""
    degree = np.minimum(rng.lognormal(3.3, 0.9, n_users), 0.1 * n_users)
    ends = rng.choice(n_users, (int(degree.sum() / 2), 2), p=degree / degree.sum())
    return ContactGraph.from_edges(ends[ends[:, 0] != ends[:, 1]]), None


def _measure_rows(
    task: Task,
    name: str,
    networks: list[tuple[ContactGraph, NDArray[np.int64] | None]],
    epsilon: float | None,
    rounds: int,
) -> list[dict[str, Any]]:
    """A row for each number of rounds; what they are compared with is measured once.

    rounds: 0 for the usual number and the numbers beside it.
    """
    from privact.estimator import PrivaCT
    from privact.query.quality import measure_contact_share

    more = LENGTHS if not rounds and (name, epsilon) in COMPARED else ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # what is seen and what not is measured here
        single = [PrivaCT(epsilon=epsilon, random_state=seed).fit(graph) for seed, (graph, _) in enumerate(networks)]
        one_round = [measure_contact_share(one.tree_, graph.to_scipy()) for one, (graph, _) in zip(single, networks, strict=True)]
        shared = {
            "one_round_share": float(np.mean(one_round)),
            "seeds": len(networks),
            "controls": measure_controls(*networks[0], epsilon, 0),
        }
        return [
            {
                "network": name,
                "epsilon": epsilon,
                "rounds": each,
                **_measure_series(task, name, networks, epsilon, each),
                **shared,
            }
            for each in sorted({rounds or choose_rounds(epsilon), *more})
        ]


def _measure_series(
    task: Task,
    name: str,
    networks: list[tuple[ContactGraph, NDArray[np.int64] | None]],
    epsilon: float | None,
    rounds: int,
) -> dict[str, float | None]:
    """Means over networks of what a series of that many rounds finds."""
    from sklearn.metrics import adjusted_rand_score

    from privact.estimator import PrivaCT
    from privact.learn.evidence.series_profile import series_posterior
    from privact.query.quality import measure_contact_share

    found: dict[str, list[float]] = {key: [] for key in ("ari", "modularity", "share_of_contacts", "evidence")}
    for seed, (graph, block) in enumerate(networks):
        task.show(f"{name}, epsilon {'none' if epsilon is None else f'{epsilon:g}'}, run {seed + 1} of {len(networks)}")
        model, contacts = PrivaCT(epsilon=epsilon, rounds=rounds, random_state=seed).fit(graph), graph.to_scipy()
        found["modularity"].append(measure_modularity(contacts, model.groups_))
        found["share_of_contacts"].append(measure_contact_share(model.tree_, contacts))
        found["evidence"].append(series_posterior(model.evidence_).evidence)
        if block is not None:
            found["ari"].append(float(adjusted_rand_score(block, model.groups_)))
    return {key: float(np.mean(values)) if values else None for key, values in found.items()}


def _read_real(name: str, data: str | None) -> ContactGraph:
    from privact.network.datasets import find_network_file
    from privact.network.graph_files import read_graph

    return read_graph(find_network_file(name, data), largest_component=True)


def _shuffle(graph: ContactGraph, rng: np.random.Generator) -> tuple[ContactGraph, NDArray[np.int64] | None]:
    """The same network with users in random order: files follow contacts."""
    return ContactGraph.from_edges(rng.permutation(graph.n_users)[graph.edges()]), None


def make_tables(result: dict[str, Any]) -> list[Table]:
    """One row for each network and epsilon."""
    heading = ["network", "epsilon", "rounds", "ARI", "modularity", "share of contacts", "one round", "evidence"]
    rows = [
        [
            row["network"],
            "none" if row["epsilon"] is None else f"{row['epsilon']:g}",
            str(row["rounds"]),
            "" if row["ari"] is None else f"{row['ari']:.2f}",
            f"{row['modularity']:.2f}",
            f"{row['share_of_contacts']:.3f}",
            f"{row['one_round_share']:.3f}",
            f"{row['evidence']:.1f}",
        ]
        for row in result["rows"]
    ]
    title = f"What a series of rounds finds, means of {result['rows'][0]['seeds']} runs"
    found = {(row["network"], row["epsilon"]): row for row in result["rows"]}
    controls = [
        [name, "none" if epsilon is None else f"{epsilon:g}", f"{row['one_round_share']:.3f}"]
        + ["" if row["controls"][key] is None else f"{row['controls'][key]:.3f}" for key in CONTROLS]
        for (name, epsilon), row in found.items()
    ]
    names = ["network", "epsilon", "random bins", *(key.replace("_", " ") for key in CONTROLS)]
    return [
        Table(title, heading, rows, range(1, len(heading))),
        _tell_million(result["million"]),
        Table("Share of contacts of one round and of other controls; Louvain sees the contacts", names, controls, range(1, 8)),
    ]


def _tell_million(found: dict[str, Any]) -> Table:
    row = [f"{found['users']:,}", str(found["groups"]), f"{found['seconds']:.1f}", f"{found['processor_seconds']:.1f}"]
    heading = ["users", "groups", "seconds", "processor seconds", "peak MB"]
    return Table("Inference of groups from 4 rounds of 13 bins in files", heading, [[*row, f"{found['peak_mb']:.0f}"]], range(5))


def list_speeds(result: dict[str, Any]) -> list[Speed]:
    """How long the inference of groups takes on a million users."""
    return [Speed("groups of a series inferred", result["million"]["processor_seconds"], "s")]
