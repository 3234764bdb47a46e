"""What a round costs: durable reports a second, response times and memory of an aggregator; bytes and time on a device.

The load generator runs beside the server on the same machine, and sends a report again only after the last one of its connection
was acknowledged. Acknowledged means on disk.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any

from privact.bench.benchmark import Speed, Table, Task
from privact.bench.serving.device_load import send_load
from privact.bench.serving.load_generator import Load
from privact.device.degrees import degree_vector
from privact.device.noise import randomize
from privact.errors import PrivaCTError
from privact.progress import Progress
from privact.protocol.addresses import aggregator_address
from privact.protocol.report import Report, report_length
from privact.protocol.round import Round, default_bins
from privact.simulate.http_devices import Operator, make_network, make_reports
from privact.simulate.local_aggregator import run_aggregator
from privact.simulate.local_postgres import find_postgres_programs, run_postgres

__all__ = ["list_speeds", "make_tables", "measure"]


CONTACTS = 500
"""Contacts of the device whose time is measured."""

_DEVICE_TIMES = ("count_ms", "noise_ms", "encode_ms")


def measure(task: Task) -> dict[str, Any]:
    """All measurements; see the module. Each database has its median run by speed, and the speed of every run."""
    n_reports, concurrency, repeats = (task.options[name] for name in ("reports", "concurrency", "repeats"))
    databases = [_measure_database("SQLite", n_reports, concurrency, repeats, task.progress)]
    if find_postgres_programs() is None:
        databases.append({"database": "PostgreSQL", "status": "not installed"})
    else:
        databases.append(_measure_database("PostgreSQL", n_reports, concurrency, repeats, task.progress))
    task.show("timing a device")
    return {
        "reports": n_reports,
        "concurrency": concurrency,
        "cores": os.cpu_count(),
        "databases": databases,
        "bytes_per_user": [_count_bytes(n_users) for n_users in (1_000, 1_000_000)],
        "device": _time_device(),
    }


def make_tables(result: dict[str, Any]) -> list[Table]:
    """The aggregator, the bytes, and the device."""
    databases = [
        [
            found["database"],
            *(
                (
                    f"{found['reports_per_second']:,.0f}",
                    f"{found['p50_ms']:.1f}",
                    f"{found['p99_ms']:.1f}",
                    f"{found['server_peak_mb']:.0f}",
                )
                if found["status"] == "ok"
                else (found["status"], "", "", "")
            ),
        ]
        for found in result["databases"]
    ]
    sent = [
        [
            f"{found['n_users']:,}",
            str(found["n_bins"]),
            f"{found['round'] + found['report']:,}",
            f"{found['paper_partition'] + found['paper_report']:,}",
        ]
        for found in result["bytes_per_user"]
    ]
    device = result["device"]
    return [
        Table(
            f"Durable reports a second, the load generator beside the server on {result['cores']} cores",
            ["database", "reports/s", "p50 ms", "p99 ms", "server MB"],
            databases,
            range(1, 5),
        ),
        Table(
            "Bytes that one user sends and receives in a round (bodies), beside the paper's scheme",
            ["users", "bins", "ours", "paper: the whole partition"],
            sent,
            range(4),
        ),
        Table(
            f"On a device with {device['contacts']} contacts: {device['count_ms']:.2f} ms to count, "
            f"{device['noise_ms']:.2f} ms for the noise, {device['encode_ms']:.2f} ms to encode"
        ),
    ]


def list_speeds(result: dict[str, Any]) -> list[Speed]:
    """Reports a second and response times of each database, and the times of a device."""
    found = []
    for each in result["databases"]:
        if each["status"] == "ok":
            found += [
                Speed(f"{each['database']}, reports", each["reports_per_second"], "reports/s", more_is_better=True),
                Speed(f"{each['database']}, p99", each["p99_ms"], "ms"),
                Speed(f"{each['database']}, memory", each["server_peak_mb"], "MB"),
            ]
    return [*found, *(Speed(f"device, {key.removesuffix('_ms')}", result["device"][key], "ms") for key in _DEVICE_TIMES)]


def _measure_database(name: str, n_reports: int, concurrency: int, repeats: int, progress: Progress) -> dict[str, Any]:
    """The median of several runs on one kind of database."""
    runs = []
    for number in range(repeats):
        stage = f"{name}, run {number + 1} of {repeats}"
        with ExitStack() as ending:
            settings = {}
            if name == "PostgreSQL":
                folder = ending.enter_context(run_postgres())
                settings["database"] = f"postgresql://postgres@/postgres?host={folder}"
            aggregator = ending.enter_context(run_aggregator(**settings))
            operator = Operator(aggregator_address(aggregator.url), aggregator.operator_token)
            load = _send_load(operator, aggregator.url, n_reports, concurrency, partial(_show_stage, progress, stage))
            runs.append((n_reports / load.seconds, load, aggregator.peak_memory()))
    speed, load, memory = sorted(runs, key=lambda run: run[0])[len(runs) // 2]
    return {
        "database": name,
        "status": "ok",
        "reports_per_second": speed,
        "each_run": [run[0] for run in runs],
        "p50_ms": load.percentile(0.5),
        "p99_ms": load.percentile(0.99),
        "server_peak_mb": memory / 1e6,
    }


def _show_stage(progress: Progress, stage: str, text: str, done: int, total: int) -> None:
    """Progress of one run under the name of the run."""
    progress(f"{stage}: {text}", done, total)


def _send_load(operator: Operator, url: str, n_reports: int, concurrency: int, progress: Progress) -> Load:
    """Enrol users, open a round and send a report of each."""
    network = make_network(n_reports, seed=0)
    users = network.graph.names
    tokens = operator.enrol(users, progress)
    operator.ask("POST", "/v1/rounds", {"id": "bench", "epsilon": 1.0})
    operator.ask("POST", "/v1/rounds/bench/open")
    round = operator.parameters("bench")
    reports = make_reports(network.graph, users, round, None, progress)
    each = [tokens[user] for user in users]
    load = send_load(aggregator_address(url), "bench", each, reports, concurrency=concurrency, progress=progress)
    if load.statuses[201] != n_reports:
        raise PrivaCTError(
            f"only {load.statuses[201]} of {n_reports} reports were accepted: {load.failure or dict(load.statuses)}"
        )
    return load


def _round(n_users: int) -> Round:
    return Round(id="bench", epsilon=1.0, n_bins=default_bins(n_users), n_users=n_users, seed=bytes(32))


def _count_bytes(n_users: int) -> dict[str, Any]:
    """Bytes of one user's round, beside the paper's scheme, which sends the bin of every user to every user.

    Bodies only. The paper's partition is taken as compactly as it can be: half a byte for the bin of each of up to 16 bins, in
    an order of users that everybody knows already; its report as K doubles.
    """
    round = _round(n_users)
    return {
        "n_users": n_users,
        "n_bins": round.n_bins,
        "round": len(round.to_bytes()),
        "report": report_length(round.n_bins),
        "paper_partition": (n_users + 1) // 2,
        "paper_report": 8 * round.n_bins,
    }


def _time_device() -> dict[str, Any]:
    """Milliseconds on a device with many contacts in a round of a million users, once everything is loaded."""
    round, contacts = _round(1_000_000), [f"contact{number}@server{number % 7}.example" for number in range(CONTACTS)]

    def timed(work: Callable[[], Any]) -> float:
        seconds = []
        for _ in range(50):
            begin = time.perf_counter()
            work()
            seconds.append(time.perf_counter() - begin)
        return 1000 * statistics.median(seconds)

    vector = degree_vector(contacts, round, owner="me@here.example")
    return {
        "contacts": CONTACTS,
        "count_ms": timed(lambda: degree_vector(contacts, round, owner="me@here.example")),
        "noise_ms": timed(lambda: randomize(vector, round)),
        "encode_ms": timed(lambda: Report.bind(round, "me@here.example", vector).to_bytes()),
    }
