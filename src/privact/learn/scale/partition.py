"""A tree over any number of users: a sketch on a sample, everyone to their part, the parts learned anywhere, grafted, polished.

    sample -> sketch -> route everyone -> parts, split again while large -> learn each -> graft on the sketch -> polish the top

What decides the tree is the seed and the users alone: samples and parts are named by where they stand in the sketch, each draws
from a stream of its own name, and results are put together by name. So workers, their number, order and kind change nothing.
A worker keeps the users of one part in memory, at most PART, whatever the number of users; this process keeps some numbers per
user and the top of the tree.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privact.learn.scale.engines import Engine, InProcess, run
from privact.learn.scale.part import SAMPLE, WHOLE_GAIN, Grown, Part, learn_part
from privact.learn.scale.population import Depot, Population, blocks, embedded
from privact.learn.scale.sketch import Split, draw_sample, nearest, split
from privact.learn.search.linkage import average_linkage
from privact.progress import Tell

PART = 20_000
"""The most users that one task learns, and that a worker keeps in memory at a time."""

ROUTED = 16_384
"""How many users one task sends to their parts."""

Name = tuple[int, ...]

IN_PROCESS = Engine(InProcess(), 1, None, True, lambda value: value)


class Partitioned(NamedTuple):
    """A tree over everybody.

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


def partitioned(
    population: Population,
    rng: np.random.Generator,
    tell: Tell,
    engine: Engine = IN_PROCESS,
    rounds: int | None = None,
) -> Partitioned:
    """Learn the tree of everybody.

    rng: decides everything. tell: is told what is done, how much, of how much. engine: where tasks run.
    rounds: of polishing each part and the top, as for `polish`.
    """
    from privact.learn.scale.top_polish import polish_summit

    n = len(population)
    seed = int(rng.integers(2**63))
    if n <= PART:  # one part, not worth sending anywhere
        return Partitioned(*learn_part(population.take(np.arange(n)), _stream(seed, 1, ()), rounds, tell, WHOLE_GAIN))
    depot = Depot(engine, population)
    try:
        splits, groups = _split_all(depot, seed, tell)
        parts = _learn_all(depot, groups, seed, rounds, tell)
        left, right = _graft(n, depot.order, splits, groups, parts)
        bounds = [(group.first, group.last) for group in groups]
        inside = [sum(part.costs[0] for part in parts), sum(part.costs[-1] for part in parts)]
        return Partitioned(*polish_summit(depot, bounds, left, right, inside, rounds, tell))
    finally:
        depot.close()


def _split_all(depot: Depot, seed: int, tell: Tell) -> tuple[dict[Name, Split], list[_Group]]:
    """Split groups until none is larger than a part; returns every split by the name of its group, and the parts in order."""
    n = len(depot.population)
    splits: dict[Name, Split] = {}
    groups = [_Group((), 0, n)]
    while any(group.last - group.first > PART for group in groups):
        large = [group for group in groups if group.last - group.first > PART]
        found = dict(zip((group.name for group in large), _split_some(depot, large, seed, tell), strict=True))
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
        depot.reorder(order)
    return splits, groups


def _split_some(depot: Depot, groups: list[_Group], seed: int, tell: Tell) -> list[Split]:
    """The split of each of some groups, all of them at once."""
    samples = [draw_sample(g.last - g.first, SAMPLE, _stream(seed, 0, g.name)) for g in groups]
    sampled = [depot.some(g.first + sample) for g, sample in zip(groups, samples, strict=True)]
    tell("sketching", 0, len(groups))
    sketches = run(
        depot.engine, sketch_task, ((rows, depot.embedder) for rows in sampled), lambda i: tell("sketching", i + 1, len(groups))
    )
    pieces = [(i, a, b) for i, g in enumerate(groups) for a, b in blocks(g.first, g.last, ROUTED)]
    routed = 0

    def told(number: int) -> None:
        nonlocal routed
        routed += pieces[number][2] - pieces[number][1]
        tell("sending users to their parts", routed, len(depot.order))

    tell("sending users to their parts", 0, len(depot.order))
    calls = ((depot.rows(a, b), sampled[i], depot.embedder) for i, a, b in pieces)
    labels = run(depot.engine, route_task, calls, told)
    near = np.concatenate(labels)
    ends = np.cumsum([group.last - group.first for group in groups])[:-1]
    found = []
    for (left, right), sample, mine in zip(sketches, samples, np.split(near, ends), strict=True):
        mine[sample] = np.arange(len(sample))  # also where several of the sample are the same
        found.append(split(left, right, mine, PART))
    return found


def _learn_all(depot: Depot, groups: list[_Group], seed: int, rounds: int | None, tell: Tell) -> list[Part]:
    """The tree of each part, large ones first so that no worker is left with one at the end."""
    n = len(depot.population)
    by_size = sorted(groups, key=lambda group: (group.first - group.last, group.first))
    learned = 0

    def told(number: int) -> None:
        nonlocal learned
        learned += by_size[number].last - by_size[number].first
        tell("learning parts", learned, n)

    tell("learning parts", 0, n)
    calls = ((depot.rows(g.first, g.last), depot.embedder, seed, g.name, rounds) for g in by_size)
    parts = dict(zip((group.name for group in by_size), run(depot.engine, learn_task, calls, told), strict=True))
    return [parts[group.name] for group in groups]


def _graft(
    n: int, order: NDArray[np.int64], splits: dict[Name, Split], groups: list[_Group], parts: list[Part]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """One tree of all parts: their roots joined as the sketches say, children before parents."""
    tree = Grown(n)
    roots = {g.name: tree.join(part.left, part.right, order[g.first : g.last]) for g, part in zip(groups, parts, strict=True)}
    for name in reversed(splits):  # the latest splits are the lowest
        found = splits[name]
        roots[name] = tree.join(found.left, found.right, np.array([roots[(*name, i)] for i in range(len(found))]))
    return tree.left, tree.right


def _stream(seed: int, purpose: int, name: Name) -> np.random.Generator:
    """The random numbers of the group of that name. purpose: 0 to sample it, 1 to learn it."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(purpose, *name)))


def sketch_task(rows: Any, embedder: Any) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Average linkage of a sample."""
    return average_linkage(embedded(rows, embedder))


def route_task(rows: Any, sample: Any, embedder: Any) -> NDArray[np.int32]:
    """The nearest sampled user of each user."""
    return nearest(embedded(sample, embedder), embedded(rows, embedder))


def learn_task(rows: Any, embedder: Any, seed: int, name: Name, rounds: int | None) -> Part:
    """The tree of a part."""
    return learn_part(embedded(rows, embedder), _stream(seed, 1, name), rounds, lambda stage, done, total: None)
