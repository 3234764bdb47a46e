"""Time and memory of recommendations as ratings grow: fitting with the choice of settings, then one list at a time.

Keys: `rows`, one for each number of users, with `users`, `items`, `ratings`, `fit_seconds`, `choose_seconds`, `peak_mb` of the
whole process, `p50_ms` and `p99_ms` of one list, `processor_ms` of one, `lists_per_second` on all cores. They are stable: later
versions add keys.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import numpy as np
from scipy.sparse import coo_array

from privact.bench.benchmark import Speed, Table, Task
from privact.bench.fresh_process import resident_mb
from privact.errors import InputError
from privact.query.quality import draw_random_tree
from privact.recommend.cold_start.coarse_lists import list_coarsely
from privact.recommend.cold_start.cold_start_recommender import ColdStartRecommender
from privact.recommend.cold_start.validation import choose_settings_for_tree
from privact.recommend.data.ratings import Ratings

__all__ = ["draw_ratings", "list_speeds", "make_tables", "measure", "measure_recommender"]

GROUPS = 16
LISTS = 200
RATINGS_OF_A_USER = 100


def measure(task: Task) -> dict[str, Any]:
    """A recommender for each number of users, as many items, and a hundred times as many ratings; each in its own process."""
    rows = []
    for n_users in task.options["users"]:
        task.show(f"{n_users:,} users")
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as alone:
            rows.append(alone.submit(measure_recommender, n_users).result())
    return {"rows": rows}


def measure_recommender(n_users: int) -> dict[str, Any]:
    """Fit a recommender of as many items as users, then list items for users without and with ratings."""
    rng = np.random.default_rng(0)
    groups = rng.integers(0, GROUPS, n_users)
    ratings = draw_ratings(groups, n_users, RATINGS_OF_A_USER * n_users, rng)
    tree = draw_random_tree(n_users, rng, ratings.users)
    contacts = rng.poisson(1.0 + 5.0 * (groups[:, None] == np.arange(GROUPS)))

    begin = time.perf_counter()
    model = ColdStartRecommender(tree, ratings, groups=groups, contacts=contacts)
    fitted = time.perf_counter()
    model.settings = choose_settings_for_tree(model)
    chosen = time.perf_counter()

    users = [ratings.users[row] for row in rng.integers(0, n_users, LISTS).tolist()]
    list_coarsely(model, users[0], 10)  # compile before the clock starts
    seconds, processor = [], time.process_time()
    for user in users:
        start = time.perf_counter()
        list_coarsely(model, user, 10)
        seconds.append(time.perf_counter() - start)
    processor = time.process_time() - processor
    start = time.perf_counter()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda user: list_coarsely(model, user, 10), users))
    return {
        "users": n_users,
        "items": ratings.n_items,
        "ratings": ratings.n_ratings,
        "fit_seconds": fitted - begin,
        "choose_seconds": chosen - fitted,
        "peak_mb": resident_mb(peak=True),
        "p50_ms": 1000 * float(np.median(seconds)),
        "processor_ms": 1000 * processor / LISTS,
        "p99_ms": 1000 * float(np.quantile(seconds, 0.99)),
        "lists_per_second": LISTS / (time.perf_counter() - start),
    }


def draw_ratings(groups: np.ndarray[Any, Any], n_items: int, n_ratings: int, rng: np.random.Generator) -> Ratings:
    """As many different ratings as asked for: a few users and items have most of them, and half follows the group.

    groups: (n) the taste group of each user. n_ratings: at most half of all pairs of user and item.
    """
    n_users = len(groups)
    if n_ratings > n_users * n_items // 2:
        raise InputError(f"{n_ratings} ratings of {n_users} users and {n_items} items: at most half of all pairs can be drawn")
    active = np.minimum(rng.pareto(2.0, n_users) + 0.2, 20.0)
    chance = np.cumsum(active / active.sum())
    pairs = np.empty(0, np.int64)
    while len(pairs) < n_ratings:  # pairs that come twice count once, so more are drawn than are missing
        drawn = 2 * (n_ratings - len(pairs))
        user = np.minimum(np.searchsorted(chance, rng.random(drawn)), n_users - 1)
        place = np.minimum((n_items ** rng.random(drawn)), n_items - 1).astype(np.int64)  # the chance falls as 1 / place
        own = rng.random(drawn) < 0.5
        item = np.where(own, (place + groups[user] * (n_items // GROUPS)) % n_items, place)
        pairs = np.union1d(pairs, user * n_items + item)
    pairs = pairs[np.sort(rng.permutation(len(pairs))[:n_ratings])]
    matrix = coo_array((np.ones(n_ratings), np.divmod(pairs, n_items)), shape=(n_users, n_items)).tocsr()
    return Ratings.from_csr(matrix, [f"user{row}@server{row % 97}.example" for row in range(n_users)])


def make_tables(result: dict[str, Any]) -> list[Table]:
    """One row for each number of users."""
    heading = ["users", "items", "ratings", "fit s", "settings s", "peak MB", "list p50 ms", "p99 ms", "processor ms", "lists/s"]
    rows = [
        [
            *(f"{row[key]:,}" for key in ("users", "items", "ratings")),
            *(f"{row[key]:,.1f}" for key in ("fit_seconds", "choose_seconds")),
            f"{row['peak_mb']:,.0f}",
            *(f"{row[key]:,.1f}" for key in ("p50_ms", "p99_ms", "processor_ms", "lists_per_second")),
        ]
        for row in result["rows"]
    ]
    return [Table("Recommendations for users of a tree, from ratings and reports", heading, rows, tuple(range(10)))]


def list_speeds(result: dict[str, Any]) -> list[Speed]:
    """Seconds of fitting, memory, and times of lists."""
    found = []
    for row in result["rows"]:
        name = f"{row['users']:,} users"
        found += [
            Speed(f"{name}, fit and settings", row["fit_seconds"] + row["choose_seconds"], "s"),
            Speed(f"{name}, memory", row["peak_mb"], "MB"),
            Speed(f"{name}, one list", row["p50_ms"], "ms"),
            Speed(f"{name}, lists", row["lists_per_second"], "lists/s", more_is_better=True),
        ]
    return found
