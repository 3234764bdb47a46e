"""Queries on large trees.

Keys: `users`; `first_lookup_ms`: the first look-up of an id in a tree file that was just opened, median of several;
`search_ms`: ten ids with a text, and `search_absent_ms`: a text that no id has, each the slowest of several texts;
`judged`; `quality` and `cost`: those commands on a tree of so many users and the edge list of its contacts, each with `seconds`,
`processor_seconds` and `peak_mb`. They are stable: later versions add keys and keep these.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from privact.bench.benchmark import Speed, Table, Task
from privact.errors import PrivaCTError
from privact.experiments.scale.watched_process import run_watched
from privact.query.id_search import find_ids
from privact.query.quality import draw_random_tree
from privact.simulate.federated_network import make_federated_network
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["list_speeds", "make_tables", "measure"]

OPENED = 7
"""How often a tree file is opened."""

PRESENT = (b"user1", b"77@", b"example", b"99")
ABSENT = (b"zebra", b"user@", b"xample.socia1", b"q")


def measure(task: Task) -> dict[str, Any]:
    """Look-ups and searches in a tree with ids, then the commands that judge a tree."""
    users, judged = task.options["users"], task.options["judged"]
    task.show(f"look-ups among {users:,} users")
    return {"users": users, **measure_lookups(users), "judged": judged, **measure_commands(judged, task.show)}


def measure_lookups(n_users: int) -> dict[str, float]:
    """Milliseconds of the first look-up and of searches for a text."""
    rng = np.random.default_rng(0)
    drawn = draw_random_tree(n_users, rng, [f"user{i}@example.social" for i in range(n_users)])
    with tempfile.TemporaryDirectory(prefix="privact-") as folder:
        path = Path(folder) / "tree.hct"
        drawn.save(path)
        del drawn
        first = []
        for leaf in rng.integers(n_users, size=OPENED).tolist():
            tree = HierarchicalClusterTree.load(path, memory_map=True)
            name = f"user{leaf}@example.social"
            first.append(_time_ms(lambda tree=tree, name=name: tree.leaf_of(name)))  # type: ignore[misc]
        users = tree.users
        if users is None:
            raise PrivaCTError("the tree was saved without ids")
        find_ids(users, PRESENT[0], 10)  # compile and prepare before the clock starts
        return {
            "first_lookup_ms": float(np.median(first)),
            "search_ms": max(_time_ms(lambda text=text: find_ids(users, text, 10)) for text in PRESENT),  # type: ignore[misc]
            "search_absent_ms": max(_time_ms(lambda text=text: find_ids(users, text, 10)) for text in ABSENT),  # type: ignore[misc]
        }


def measure_commands(n_users: int, show: Callable[[str], None]) -> dict[str, dict[str, float]]:
    """Seconds and memory of `privact quality` and `privact cost`."""
    show(f"a tree of {n_users:,} users")
    graph = make_federated_network(n_users, n_artists=64, ratings_per_user=0.0, random_state=0).graph
    with tempfile.TemporaryDirectory(prefix="privact-") as folder:
        contacts, tree = str(Path(folder) / "contacts.tsv"), str(Path(folder) / "tree.hct")
        with open(contacts, "w") as stream:
            stream.writelines(f"{graph.names[one]}\t{graph.names[other]}\n" for one, other in graph.edges().tolist())
        del graph
        _run(["learn", contacts, "--epsilon", "1", "--seed", "0", "-o", tree])
        found = {}
        for command in ("quality", "cost"):
            show(f"privact {command}, {n_users:,} users")
            found[command] = _run([command, tree, contacts, "--json"])
        return found


def _run(arguments: list[str]) -> dict[str, float]:
    """Seconds, processor seconds and memory of a command."""
    begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    code, output, peak = run_watched([sys.executable, "-m", "privact", *arguments], None)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if code != 0:
        last = (output.strip().splitlines() or ["no output"])[-1]
        raise PrivaCTError(f"privact {arguments[0]} ended with {code}: {last[:200]}")
    used = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return {"seconds": time.perf_counter() - begin, "processor_seconds": used, "peak_mb": peak}


def _time_ms(task: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    task()
    return 1000.0 * (time.perf_counter() - begin)


def make_tables(result: dict[str, Any]) -> list[Table]:
    """Milliseconds of look-ups, seconds of commands."""
    names = {"first_lookup_ms": "first look-up of an id", "search_ms": "ten ids with a text", "search_absent_ms": "no such text"}
    rows = [[name, f"{result[key]:.2f}"] for key, name in names.items()]
    commands = [
        [f"privact {key}", *(f"{result[key][part]:,.1f}" for part in ("seconds", "processor_seconds", "peak_mb"))]
        for key in ("quality", "cost")
    ]
    return [
        Table(f"A tree of {result['users']:,} users with ids", ["", "ms"], rows, (1,)),
        Table(f"A tree of {result['judged']:,} users", ["", "seconds", "processor s", "MB"], commands, (1, 2, 3)),
    ]


def list_speeds(result: dict[str, Any]) -> list[Speed]:
    """All of them."""
    found = [Speed(f"{key.removesuffix('_ms')}, {result['users']:,} users", result[key], "ms") for key in result if "_ms" in key]
    for key in ("quality", "cost"):
        name = f"{key}, {result['judged']:,} users"
        found += [Speed(name, result[key]["seconds"], "s"), Speed(f"{name}, memory", result[key]["peak_mb"], "MB")]
    return found
