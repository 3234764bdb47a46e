"""Groups of users: split until each fits one task, learned anywhere, and joined into one tree.

Groups are named by where they are in the splits, each draws random numbers from a stream of its own name, and results are put
together by name. So the number, order and kind of workers change nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from privact.learn.scale.part import GrowingTree, Part
from privact.learn.scale.population import RowDelivery, split_range
from privact.learn.scale.sketch import Split
from privact.learn.scale.task_runner import run
from privact.progress import Progress

__all__ = ["Group", "Name", "graft_groups", "learn_groups", "open_stream", "route_users", "split_groups"]

Name = tuple[int, ...]

Place = TypeVar("Place", bound=np.generic)
"""The type of what a task finds of each user: a number, or a row of numbers."""


class Group(NamedTuple):
    """Users who stay together: their branch in the splits, and their places in the order of parts."""

    name: Name
    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first


def split_groups(
    delivery: RowDelivery, split: Callable[[list[Group]], list[Split]], most: int
) -> tuple[dict[Name, Split], list[Group]]:
    """Split groups until none has more than `most` users; returns every split by the name of its group, and the parts in order.

    split: splits some groups, all of them at once.
    """
    n = len(delivery.population)
    splits: dict[Name, Split] = {}
    groups = [Group((), 0, n)]
    while large := [group for group in groups if len(group) > most]:
        found = dict(zip((group.name for group in large), split(large), strict=True))
        splits.update(found)
        order, after = np.arange(n), []
        for group in groups:
            if group.name not in found:
                after.append(group)
                continue
            parts = found[group.name]
            order[group.first : group.last] = group.first + parts.order
            ends = (group.first + parts.bounds).tolist()
            after += [Group((*group.name, i), ends[i], ends[i + 1]) for i in range(len(parts))]
        groups = after
        delivery.reorder(order)
    return splits, groups


def route_users(
    delivery: RowDelivery,
    groups: list[Group],
    task: Callable[..., NDArray[Place]],
    guides: list[Any],
    progress: Progress,
    most: int,
) -> list[NDArray[Place]]:
    """Find the place of each user of some groups, such as the nearest sampled user; one array per group.

    task: called with rows, the guide of their group, and what makes points of rows. most: users of one task.
    """
    pieces = [(i, a, b) for i, g in enumerate(groups) for a, b in split_range(g.first, g.last, most)]
    routed = 0

    def report(number: int) -> None:
        nonlocal routed
        routed += pieces[number][2] - pieces[number][1]
        progress("sending users to their parts", routed, len(delivery.order))

    progress("sending users to their parts", 0, len(delivery.order))
    calls = ((delivery.rows(a, b), guides[i], delivery.embedder) for i, a, b in pieces)
    places = np.concatenate(run(delivery.engine, task, calls, report))
    return np.split(places, np.cumsum([len(group) for group in groups])[:-1])


def learn_groups(
    delivery: RowDelivery,
    groups: list[Group],
    task: Callable[..., Any],
    arguments: Callable[[Group], tuple[Any, ...]],
    progress: Progress,
) -> list[Any]:
    """Learn each group, large ones first so that no worker is left with one at the end; returns the results in the given order.

    task: called with rows, what makes points of them, and the arguments of the group.
    """
    by_size = sorted(groups, key=lambda group: (-len(group), group.first))
    learned = 0

    def report(number: int) -> None:
        nonlocal learned
        learned += len(by_size[number])
        progress("learning parts", learned, len(delivery.population))

    progress("learning parts", 0, len(delivery.population))
    calls = ((delivery.rows(g.first, g.last), delivery.embedder, *arguments(g)) for g in by_size)
    results = dict(zip((group.name for group in by_size), run(delivery.engine, task, calls, report), strict=True))
    return [results[group.name] for group in groups]


def graft_groups(
    order: NDArray[np.int64], splits: dict[Name, Split], groups: list[Group], parts: list[Part]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """One tree of all parts: their roots joined as the splits say, children before parents."""
    tree = GrowingTree(len(order))
    roots = {g.name: tree.join(part.left, part.right, order[g.first : g.last]) for g, part in zip(groups, parts, strict=True)}
    for name in reversed(splits):  # the latest splits are the lowest
        found = splits[name]
        roots[name] = tree.join(found.left, found.right, np.array([roots[(*name, i)] for i in range(len(found))]))
    return tree.left, tree.right


def open_stream(seed: int, purpose: int, name: Name) -> np.random.Generator:
    """The random numbers of the group of that name. purpose: 0 to sample it, 1 to learn it."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(purpose, *name)))
