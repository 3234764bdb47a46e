"""A tree over any number of users: a sketch on a sample, users assigned to parts, parts learned anywhere, grafted, polished.

    sample -> sketch -> assign all users -> parts, split again while large -> learn each -> graft on the sketch -> polish the top

What decides the tree is the seed and the users alone: samples and parts are named by where they stand in the sketch, each draws
from a stream of its own name, and results are put together by name. So the number, order and kind of workers change nothing.
A worker keeps the users of one part in memory, at most `Limits.part`, whatever the number of users; this process keeps a few
numbers per user and the top of the tree.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privact.learn.limits import LIMITS, Limits
from privact.learn.scale.part import WHOLE_GAIN, GrowingTree, Part, learn_part
from privact.learn.scale.population import Population, RowDelivery, embed_in_task, split_range
from privact.learn.scale.sketch import Split, assign_to_sample, cut_sketch, draw_sample
from privact.learn.scale.task_runner import IN_PROCESS, Engine, run
from privact.learn.scale.top_polish import polish_top
from privact.learn.search.linkage import average_linkage
from privact.progress import Progress, ignore_progress

Name = tuple[int, ...]


class PartitionedTree(NamedTuple):
    """A tree over all users.

    left, right: children of each internal node, the root last or, after the polish, anywhere.
    costs: Dasgupta's cost before the polish, with the parts polished, and with the top polished.
    """

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    costs: list[float]


class _Group(NamedTuple):
    """Users who stand together: their branch in the sketches, and their places in the order of parts."""

    name: Name
    first: int
    last: int


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
        return PartitionedTree(*learn_part(points, _stream(seed, 1, ()), rounds, progress, limits, WHOLE_GAIN))
    delivery = RowDelivery(engine, population, limits)
    try:
        splits, groups = _split_all(delivery, seed, progress, limits)
        parts = _learn_all(delivery, groups, seed, rounds, progress, limits)
        left, right = _graft(n, delivery.order, splits, groups, parts)
        bounds = [(group.first, group.last) for group in groups]
        inside = [sum(part.costs[0] for part in parts), sum(part.costs[-1] for part in parts)]
        return PartitionedTree(*polish_top(delivery, bounds, left, right, inside, rounds, progress, limits))
    finally:
        delivery.close()


def _split_all(delivery: RowDelivery, seed: int, progress: Progress, limits: Limits) -> tuple[dict[Name, Split], list[_Group]]:
    """Split groups until none is larger than a part; returns every split by the name of its group, and the parts in order."""
    n = len(delivery.population)
    splits: dict[Name, Split] = {}
    groups = [_Group((), 0, n)]
    while any(group.last - group.first > limits.part for group in groups):
        large = [group for group in groups if group.last - group.first > limits.part]
        found = dict(zip((group.name for group in large), _split_some(delivery, large, seed, progress, limits), strict=True))
        splits.update(found)
        order, after = np.arange(n), []
        for group in groups:
            if group.name not in found:
                after.append(group)
                continue
            parts = found[group.name]
            order[group.first : group.last] = group.first + parts.order
            ends = (group.first + parts.bounds).tolist()
            after += [_Group((*group.name, i), ends[i], ends[i + 1]) for i in range(len(parts))]
        groups = after
        delivery.reorder(order)
    return splits, groups


def _split_some(delivery: RowDelivery, groups: list[_Group], seed: int, progress: Progress, limits: Limits) -> list[Split]:
    """The split of each of some groups, all of them at once."""
    samples = [draw_sample(g.last - g.first, limits.sketch_sample, _stream(seed, 0, g.name)) for g in groups]
    sampled = [delivery.some(g.first + sample) for g, sample in zip(groups, samples, strict=True)]
    progress("sketching", 0, len(groups))
    sketches = run(
        delivery.engine,
        sketch_task,
        ((rows, delivery.embedder, limits) for rows in sampled),
        lambda i: progress("sketching", i + 1, len(groups)),
    )
    pieces = [(i, a, b) for i, g in enumerate(groups) for a, b in split_range(g.first, g.last, limits.routed)]
    assigned = 0

    def report(number: int) -> None:
        nonlocal assigned
        assigned += pieces[number][2] - pieces[number][1]
        progress("sending users to their parts", assigned, len(delivery.order))

    progress("sending users to their parts", 0, len(delivery.order))
    calls = ((delivery.rows(a, b), sampled[i], delivery.embedder) for i, a, b in pieces)
    labels = run(delivery.engine, assign_task, calls, report)
    near = np.concatenate(labels)
    ends = np.cumsum([group.last - group.first for group in groups])[:-1]
    found = []
    for (left, right), sample, mine in zip(sketches, samples, np.split(near, ends), strict=True):
        mine[sample] = np.arange(len(sample))  # also where several of the sample are the same
        found.append(cut_sketch(left, right, mine, limits.part))
    return found


def _learn_all(
    delivery: RowDelivery, groups: list[_Group], seed: int, rounds: int | None, progress: Progress, limits: Limits
) -> list[Part]:
    """The tree of each part, large ones first so that no worker is left with one at the end."""
    n = len(delivery.population)
    by_size = sorted(groups, key=lambda group: (group.first - group.last, group.first))
    learned = 0

    def report(number: int) -> None:
        nonlocal learned
        learned += by_size[number].last - by_size[number].first
        progress("learning parts", learned, n)

    progress("learning parts", 0, n)
    calls = ((delivery.rows(g.first, g.last), delivery.embedder, seed, g.name, rounds, limits) for g in by_size)
    parts = dict(zip((group.name for group in by_size), run(delivery.engine, learn_task, calls, report), strict=True))
    return [parts[group.name] for group in groups]


def _graft(
    n: int, order: NDArray[np.int64], splits: dict[Name, Split], groups: list[_Group], parts: list[Part]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """One tree of all parts: their roots joined as the sketches say, children before parents."""
    tree = GrowingTree(n)
    roots = {g.name: tree.join(part.left, part.right, order[g.first : g.last]) for g, part in zip(groups, parts, strict=True)}
    for name in reversed(splits):  # the latest splits are the lowest
        found = splits[name]
        roots[name] = tree.join(found.left, found.right, np.array([roots[(*name, i)] for i in range(len(found))]))
    return tree.left, tree.right


def _stream(seed: int, purpose: int, name: Name) -> np.random.Generator:
    """The random numbers of the group of that name. purpose: 0 to sample it, 1 to learn it."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(purpose, *name)))


def sketch_task(rows: Any, embedder: Any, limits: Limits) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Average linkage of a sample."""
    return average_linkage(embed_in_task(rows, embedder), limits)


def assign_task(rows: Any, sample: Any, embedder: Any) -> NDArray[np.int32]:
    """The nearest sampled user of each user."""
    return assign_to_sample(embed_in_task(sample, embedder), embed_in_task(rows, embedder))


def learn_task(rows: Any, embedder: Any, seed: int, name: Name, rounds: int | None, limits: Limits) -> Part:
    """The tree of a part."""
    return learn_part(embed_in_task(rows, embedder), _stream(seed, 1, name), rounds, ignore_progress, limits)
