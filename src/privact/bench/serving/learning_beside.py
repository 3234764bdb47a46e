"""What users notice while the same server learns a large round: response times of reports before and meanwhile.

The large round is put into the database as if its users had reported; a smaller one is open and takes reports over HTTP at a
steady rate, first alone and then until the large one is released. Learning runs at low priority in processes of its own.

Keys: `users`, `rate`, `quiet` and `learning` with `p50_ms`, `p99_ms` and `reports`; `learn_seconds` from closing to release,
`server_peak_mb`, and `workers_peak_mb`, the sum over all processes that learned. They are stable: later versions add keys.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from privact.bench.benchmark import Speed, Table, Task
from privact.bench.serving.device_load import send_load
from privact.bench.serving.load_generator import Load
from privact.errors import PrivaCTError
from privact.progress import Progress
from privact.protocol.addresses import aggregator_address
from privact.protocol.report import Report
from privact.protocol.round import Round, default_bins
from privact.protocol.users import user_digest
from privact.simulate.http_devices import Operator, make_network, make_reports
from privact.simulate.local_aggregator import run_aggregator

__all__ = ["list_speeds", "make_tables", "measure"]

_QUIET: Final = 0.1  # of the reports are sent before learning begins
_SLICE: Final = 2.0  # seconds of reports between two looks whether the round is released
_ROWS: Final = 20_000  # users written to the database at a time


def measure(task: Task) -> dict[str, Any]:
    """Response times of reports before and while a round is learned."""
    n_users, n_reports, rate = task.options["users"], task.options["reports"], task.options["rate"]
    with run_aggregator() as aggregator:
        address = aggregator_address(aggregator.url)
        operator = Operator(address, aggregator.operator_token)
        network = make_network(n_reports, seed=0)
        users = network.graph.names
        tokens = operator.enrol(users, task.progress)
        operator.ask("POST", "/v1/rounds", {"id": "small", "epsilon": 1.0})
        operator.ask("POST", "/v1/rounds/small/open")
        reports = make_reports(network.graph, users, operator.parameters("small"), None, task.progress)
        _store_round(aggregator.folder / "privact.sqlite3", n_users, task.progress)

        def send(first: int, last: int) -> Load:
            some = [tokens[user] for user in users[first:last]]
            return send_load(address, "small", some, reports[first:last], concurrency=64, rate=rate)

        n_quiet = int(_QUIET * n_reports)
        task.show(f"{n_quiet:,} reports, nothing else")
        quiet = send(0, n_quiet)
        begin = time.perf_counter()
        _close_round(aggregator.folder / "privact.sqlite3")
        memory = _WatchedMemory(aggregator.process)
        with memory:
            busy, sent, step = Load(), n_quiet, max(1, int(_SLICE * rate))
            while (found := operator.round("large"))["state"] in ("closed", "learning"):
                stage = found["progress"] or {"stage": "waiting", "done": 0, "total": 0}
                task.progress(f"learning: {stage['stage']}", stage["done"], stage["total"])
                if sent < n_reports and found["state"] == "learning":
                    load = send(sent, min(sent + step, n_reports))
                    busy.statuses += load.statuses
                    busy.milliseconds += load.milliseconds
                    sent += step
                else:
                    time.sleep(0.2)
            learned = time.perf_counter() - begin
        if found["state"] != "released":
            raise PrivaCTError(f"the round was not learned: {found['failure']}")
        server_peak = aggregator.peak_memory() / 1e6
    if busy.statuses[201] + quiet.statuses[201] != min(sent, n_reports):
        raise PrivaCTError(f"not every report was accepted: {dict(quiet.statuses + busy.statuses)}")
    return {
        "users": n_users,
        "rate": rate,
        "cores": os.cpu_count(),
        "quiet": _describe(quiet),
        "learning": _describe(busy),
        "learn_seconds": learned,
        "server_peak_mb": server_peak,
        "workers_peak_mb": memory.total_mb,
    }


def make_tables(result: dict[str, Any]) -> list[Table]:
    """Times before and meanwhile, then what learning took."""
    rows = [
        [name, f"{result[key]['reports']:,}", f"{result[key]['p50_ms']:.1f}", f"{result[key]['p99_ms']:.1f}"]
        for key, name in (("quiet", "nothing else"), ("learning", f"{result['users']:,} users are learned"))
    ]
    title = f"Reports at {result['rate']:g} a second on {result['cores']} cores, durable when acknowledged"
    took = (
        f"Learned in {result['learn_seconds']:.0f} s; server {result['server_peak_mb']:.0f} MB, "
        f"processes that learned {result['workers_peak_mb']:.0f} MB together"
    )
    return [Table(title, ["meanwhile", "reports", "p50 ms", "p99 ms"], rows, range(1, 4)), Table(took)]


def list_speeds(result: dict[str, Any]) -> list[Speed]:
    """Response times while a round is learned, and how long that took."""
    return [
        Speed("reports while learning, p99", result["learning"]["p99_ms"], "ms"),
        Speed("reports alone, p99", result["quiet"]["p99_ms"], "ms"),
        Speed("learning beside reports", result["learn_seconds"], "s"),
        Speed("processes that learned", result["workers_peak_mb"], "MB"),
    ]


def _describe(load: Load) -> dict[str, Any]:
    return {"reports": load.statuses.total(), "p50_ms": load.percentile(0.5), "p99_ms": load.percentile(0.99)}


def _store_round(database: Path, n_users: int, progress: Progress) -> None:
    """Put a round with made-up users and reports into the database; it is still a draft, which nobody learns."""
    round = Round(id="large", epsilon=1.0, n_bins=default_bins(n_users), n_users=n_users, seed=bytes(32), opens=1, closes=2)
    wish = json.dumps({"epsilon": 1.0, "n_bins": round.n_bins, "bins": "random", "joiner_seconds": 0})
    row = {
        "id": "large", "state": "draft", "settings": wish, "parameters": round.to_bytes(), "digest": round.digest(),
        "n_users": n_users, "last_serial": 10**9 + n_users, "opens": 1, "closes": 2, "joiners_until": 2, "n_reports": n_users,
        "created": 1, "opened": 1, "closed": 2, "search_seed": 0, "profile": "counts",
    }  # fmt: skip
    with sqlite3.connect(database, timeout=60) as connection:
        columns = f"rounds ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})"
        connection.execute(f"INSERT INTO {columns}", list(row.values()))
    rng = np.random.default_rng(0)
    for first in range(0, n_users, _ROWS):
        progress(f"a round of {n_users:,} users", first, n_users)
        names = [f"user{number}@server{number % 997}.example" for number in range(first, min(first + _ROWS, n_users))]
        digests = [user_digest(name) for name in names]
        people = [(digest, name, bytes(32), 1, 10**9 + first + place) for place, (digest, name) in
                  enumerate(zip(digests, names, strict=True))]  # fmt: skip
        sent = (Report(round.digest(), *each).to_bytes() for each in _draw_reports(digests, round, rng))
        rows = [("large", digest, report, 1, False) for digest, report in zip(digests, sent, strict=True)]
        with sqlite3.connect(database, timeout=60) as connection:
            insert = "INSERT INTO users (digest, id, token_sha256, enrolled, serial) VALUES (?, ?, ?, ?, ?)"
            connection.executemany(insert, people)
            connection.executemany("INSERT INTO reports (round_id, user, bytes, received, late) VALUES (?, ?, ?, ?, ?)", rows)


def _draw_reports(digests: list[bytes], round: Round, rng: np.random.Generator) -> Iterator[tuple[bytes, tuple[int, ...]]]:
    """Noisy counts of users with few contacts or many, spread evenly over the bins."""
    shape = len(digests), round.n_bins
    rates: NDArray[np.float64] = np.minimum(rng.pareto(1.5, len(digests)) * 5 + 1, 2000) / round.n_bins
    chance = 1 - np.exp(-round.epsilon_report)
    noise = rng.geometric(chance, shape) - rng.geometric(chance, shape)
    for digest, vector in zip(digests, (rng.poisson(rates[:, None], shape) + noise).tolist(), strict=True):
        yield digest, tuple(vector)


def _close_round(database: Path) -> None:
    """Let the large round be one that waits to be learned."""
    with sqlite3.connect(database, timeout=60) as connection:
        connection.execute("UPDATE rounds SET state = 'closed' WHERE id = 'large'")


class _WatchedMemory:
    """The peak memory of each process that a server has started, for as long as a block runs.

    server: number of its process.
    """

    def __init__(self, server: int) -> None:
        self._server, self._ended = server, threading.Event()
        self._peaks: dict[int, float] = {}
        self._thread = threading.Thread(target=self._watch, daemon=True)

    @property
    def total_mb(self) -> float:
        """The sum of the peaks, in MB; 0 where the system does not tell."""
        return sum(self._peaks.values())

    def __enter__(self) -> _WatchedMemory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(0.5):
            for process in _list_descendants(self._server):
                try:
                    peak = int(Path(f"/proc/{process}/status").read_text().split("VmHWM:")[1].split()[0]) / 1e3
                except (OSError, IndexError):  # it has ended
                    continue
                self._peaks[process] = max(peak, self._peaks.get(process, 0.0))


def _list_descendants(process: int) -> list[int]:
    """The processes that a process has started, and those that these have started."""
    found = []
    for path in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            children = [int(child) for child in path.read_text().split()]
        except OSError:
            continue
        for child in children:
            found += [child, *_list_descendants(child)]
    return found
