"""A tree over any number of users: a sketch on a sample, users assigned to parts, parts learned anywhere, grafted, polished.

    sample -> sketch -> assign all users -> parts, split again while large -> learn each -> graft on the sketch -> polish the top

The seed and the users alone decide the tree (groups.py). A worker keeps the users of one part in memory, at most `Limits.part`,
whatever the number of users; this process keeps a few numbers per user and the top of the tree.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privact.learn.limits import LIMITS, Limits
from privact.learn.scale.groups import Group, Name, graft_groups, learn_groups, open_stream, route_users, split_groups
from privact.learn.scale.part import WHOLE_GAIN, Part, learn_part
from privact.learn.scale.population import Population, RowDelivery, embed_in_task
from privact.learn.scale.sketch import Split, assign_to_sample, cut_sketch, draw_sample
from privact.learn.scale.task_runner import IN_PROCESS, Engine, run
from privact.learn.scale.top_polish import polish_top
from privact.learn.search.linkage import average_linkage
from privact.progress import Progress, ignore_progress


class PartitionedTree(NamedTuple):
    """A tree over all users.

    left, right: children of each internal node, the root last or, after the polish, anywhere.
    costs: Dasgupta's cost before the polish, with the parts polished, and with the top polished.
    """

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    costs: list[float]


def learn_in_parts(
    population: Population,
    rng: np.random.Generator,
    progress: Progress,
    engine: Engine = IN_PROCESS,
    rounds: int | None = None,
    limits: Limits = LIMITS,
) -> PartitionedTree:
    """Learn the tree of all users part by part.

    rng: decides every random choice. engine: where tasks run.
    rounds: of polishing each part and the top, as for `polish`.
    """
    n = len(population)
    seed = int(rng.integers(2**63))
    if n <= limits.part:  # one part, not worth sending anywhere
        points = population.take(np.arange(n))
        return PartitionedTree(*learn_part(points, open_stream(seed, 1, ()), rounds, progress, limits, WHOLE_GAIN))
    delivery = RowDelivery(engine, population, limits)
    try:
        splits, groups = split_groups(delivery, lambda large: _split(delivery, large, seed, progress, limits), limits.part)
        parts = learn_groups(delivery, groups, learn_task, lambda group: (seed, group.name, rounds, limits), progress)
        left, right = graft_groups(delivery.order, splits, groups, parts)
        bounds = [(group.first, group.last) for group in groups]
        inside = [sum(part.costs[0] for part in parts), sum(part.costs[-1] for part in parts)]
        return PartitionedTree(*polish_top(delivery, bounds, left, right, inside, rounds, progress, limits))
    finally:
        delivery.close()


def _split(delivery: RowDelivery, groups: list[Group], seed: int, progress: Progress, limits: Limits) -> list[Split]:
    """The split of each of some groups, all of them at once."""
    samples = [draw_sample(len(g), limits.sketch_sample, open_stream(seed, 0, g.name)) for g in groups]
    sampled = [delivery.some(g.first + sample) for g, sample in zip(groups, samples, strict=True)]
    progress("sketching", 0, len(groups))
    sketches = run(
        delivery.engine,
        sketch_task,
        ((rows, delivery.embedder, limits) for rows in sampled),
        lambda i: progress("sketching", i + 1, len(groups)),
    )
    found = []
    near = route_users(delivery, groups, assign_task, sampled, progress, limits.routed)
    for (left, right), sample, mine in zip(sketches, samples, near, strict=True):
        mine[sample] = np.arange(len(sample))  # also where several of the sample are the same
        found.append(cut_sketch(left, right, mine, limits.part))
    return found


def sketch_task(rows: Any, embedder: Any, limits: Limits) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Average linkage of a sample."""
    return average_linkage(embed_in_task(rows, embedder), limits)


def assign_task(rows: Any, sample: Any, embedder: Any) -> NDArray[np.int32]:
    """The nearest sampled user of each user."""
    return assign_to_sample(embed_in_task(sample, embedder), embed_in_task(rows, embedder))


def learn_task(rows: Any, embedder: Any, seed: int, name: Name, rounds: int | None, limits: Limits) -> Part:
    """The tree of a part."""
    return learn_part(embed_in_task(rows, embedder), open_stream(seed, 1, name), rounds, ignore_progress, limits)
