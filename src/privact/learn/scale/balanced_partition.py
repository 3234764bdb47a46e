"""A tree over any number of users under the balance floor: splits found on samples, parts learned anywhere, grafted.

    sample -> splits -> send all users down -> parts, split again while large -> learn each -> graft

As for the unrestricted search (partition.py), the seed and the users alone decide the tree, and memory is bounded by the size
of a part.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.learn.limits import LIMITS, Limits
from privact.learn.scale.balanced_part import BalancedPart, learn_balanced_part
from privact.learn.scale.balanced_sketch import apply_sketch, draw_split_sketch
from privact.learn.scale.borders import SplitSketch, route
from privact.learn.scale.groups import Group, Name, graft_groups, learn_groups, open_stream, route_users, split_groups
from privact.learn.scale.partition import PartitionedTree
from privact.learn.scale.population import Population, RowDelivery, embed_in_task
from privact.learn.scale.sketch import Split, draw_sample
from privact.learn.scale.task_runner import IN_PROCESS, Engine, run
from privact.progress import Progress, ignore_progress
from privact.tree.embedding import Embedding

__all__ = ["learn_balanced_in_parts"]


def learn_balanced_in_parts(
    population: Population,
    balance: float,
    rng: np.random.Generator,
    progress: Progress,
    engine: Engine = IN_PROCESS,
    swaps: int | None = None,
    limits: Limits = LIMITS,
) -> PartitionedTree:
    """Learn the tree of all users; all its splits keep the balance floor.

    balance: see `floor_of`. rng: draws the samples. engine: where tasks run. swaps: at most this many per user.
    """
    n = len(population)
    seed = int(rng.integers(2**63))
    if n <= limits.part:
        return PartitionedTree(*learn_balanced_part(population.take(np.arange(n)), n, balance, swaps, progress).tree)
    delivery = RowDelivery(engine, population, limits)
    try:
        splits, groups = split_groups(
            delivery, lambda large: _split(delivery, large, seed, balance, progress, limits), limits.part
        )
        parts = learn_groups(delivery, groups, learn_balanced_task, lambda group: (n, balance, swaps), progress)
        left, right = graft_groups(delivery.order, splits, groups, [part.tree for part in parts])
        joins = _cost_of_joins(splits, groups, parts, population.take(np.array([0])))
        costs = [joins + sum(part.tree.costs[0] for part in parts), joins + sum(part.tree.costs[-1] for part in parts)]
        return PartitionedTree(left, right, costs)
    finally:
        delivery.close()


def _split(
    delivery: RowDelivery, groups: list[Group], seed: int, balance: float, progress: Progress, limits: Limits
) -> list[Split]:
    """The split of each of some groups, all of them at once."""
    n = len(delivery.population)
    samples = [draw_sample(len(g), limits.split_sample_of(len(g)), open_stream(seed, 0, g.name)) for g in groups]
    progress("sketching", 0, len(groups))
    sketches = run(
        delivery.engine,
        split_sketch_task,
        (
            (delivery.some(g.first + sample), delivery.embedder, len(g), n, balance, limits.part)
            for g, sample in zip(groups, samples, strict=True)
        ),
        lambda i: progress("sketching", i + 1, len(groups)),
    )
    routed = route_users(delivery, groups, route_task, sketches, progress, limits.routed)
    return [apply_sketch(sketch, mine, n, balance, limits.part) for sketch, mine in zip(sketches, routed, strict=True)]


def _cost_of_joins(splits: dict[Name, Split], groups: list[Group], parts: list[BalancedPart], one: Embedding) -> float:
    """What the nodes that join parts add to Dasgupta's cost, from sums of points. one: any user, for weights and constant."""
    whole: dict[Name, tuple[int, NDArray[np.float64]]] = {
        group.name: (len(group), part.total) for group, part in zip(groups, parts, strict=True)
    }
    cost = 0.0
    for name in reversed(splits):
        found = splits[name]
        nodes = [whole[(*name, i)] for i in range(len(found))]
        for a, b in zip(found.left.tolist(), found.right.tolist(), strict=True):
            (first, first_sum), (second, second_sum) = nodes[a], nodes[b]
            across = one.constant * first * second - float((first_sum * one.weights) @ second_sum)
            cost += (first + second) * across
            nodes.append((first + second, first_sum + second_sum))
        whole[name] = nodes[-1]
    return cost


def split_sketch_task(rows: Any, embedder: Any, group: int, n_users: int, balance: float, most: int) -> SplitSketch:
    """The splits of a sample of a group."""
    return draw_split_sketch(embed_in_task(rows, embedder), group, n_users, balance, most)


def route_task(rows: Any, sketch: SplitSketch, embedder: Any) -> NDArray[np.void]:
    """Where each user is sent."""
    return route(sketch, embed_in_task(rows, embedder))


def learn_balanced_task(rows: Any, embedder: Any, n_users: int, balance: float, swaps: int | None) -> BalancedPart:
    """The tree of a part under the balance floor."""
    return learn_balanced_part(embed_in_task(rows, embedder), n_users, balance, swaps, ignore_progress)
