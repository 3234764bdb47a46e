"""Durable reports a second as servers are added on one PostgreSQL database.

Each server is a process with a data folder of its own. The load generator sends a share of the reports to each, as a balancer
does, and does not count what a balancer costs. As many reports are under way at each server whatever their number: more servers
are for more users. Everything runs on one machine, so what stops growth may be its cores; a database that is held to a share of
a core is the limit sooner.

Keys: `database_limit`, the cores that the database was held to, null for all; `rows`, one for each number of servers, with
`servers`, `reports_per_second`, `p50_ms`, `p99_ms`, `server_cores`, `database_cores` and `generator_cores`: how many cores each
side kept busy, all from the run with the median of reports a second; `runs`, reports a second of each. They are stable: later
versions add keys.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from privact.bench.benchmark import Speed, Table, Task
from privact.bench.serving.core_limit import hold_to_cores
from privact.bench.serving.device_load import send_load
from privact.bench.serving.load_generator import Load
from privact.errors import PrivaCTError
from privact.progress import Progress
from privact.protocol.addresses import aggregator_address
from privact.simulate.http_devices import Operator, make_network, make_reports
from privact.simulate.local_aggregator import LocalAggregator, run_aggregator
from privact.simulate.local_postgres import find_postgres_programs, run_postgres

__all__ = ["list_speeds", "make_tables", "measure"]


def measure(task: Task) -> dict[str, Any]:
    """The same load on one server, on two, and so on."""
    n_reports, concurrency, repeats, held = (task.options[key] for key in ("reports", "concurrency", "repeats", "database_cores"))
    limit = held if held > 0.0 else None
    rows = []
    for n_servers in task.options["servers"] if find_postgres_programs() is not None else ():
        task.show(f"{n_servers} servers")
        runs = [_measure_servers(n_servers, n_reports, concurrency * n_servers, limit, task.progress) for _ in range(repeats)]
        runs.sort(key=lambda run: float(run["reports_per_second"]))
        rows.append(runs[len(runs) // 2] | {"runs": [run["reports_per_second"] for run in runs]})
    settings = {"reports": n_reports, "concurrency": concurrency, "cores": os.cpu_count(), "database_limit": limit}
    return {**settings, "rows": rows}


def make_tables(result: dict[str, Any]) -> list[Table]:
    """One row for each number of servers."""
    rows = [
        [
            str(row["servers"]),
            f"{row['reports_per_second']:,.0f}",
            *(f"{row[key]:.1f}" for key in ("p50_ms", "p99_ms")),
            *(f"{row[key]:.2f}" for key in ("server_cores", "database_cores", "generator_cores")),
        ]
        for row in result["rows"]
    ]
    heading = ["servers", "reports/s", "p50 ms", "p99 ms", "cores: servers", "database", "generator"]
    where = f"all on {result['cores']} cores, {result['concurrency']} under way at each server"
    limit = result["database_limit"]
    held = "" if limit is None else f" held to {limit:g} cores"
    title = f"Durable reports a second by servers on one PostgreSQL{held}, {where}"
    return [Table(title, heading, rows, range(7)) if rows else Table("PostgreSQL is not installed: several servers need it")]


def list_speeds(result: dict[str, Any]) -> list[Speed]:
    """Reports a second and response times by number of servers."""
    found = []
    for row in result["rows"]:
        name = f"{row['servers']} servers"
        found.append(Speed(f"{name}, reports", row["reports_per_second"], "reports/s", more_is_better=True))
        found.append(Speed(f"{name}, p99", row["p99_ms"], "ms"))
    return found


def _measure_servers(n_servers: int, n_reports: int, concurrency: int, limit: float | None, progress: Progress) -> dict[str, Any]:
    with ExitStack() as ending:
        folder = ending.enter_context(run_postgres())
        homes = Path(ending.enter_context(tempfile.TemporaryDirectory(prefix="privact-servers-")))
        servers = _start_servers(n_servers, f"postgresql://postgres@/postgres?host={folder}", homes, ending)
        operator = Operator(aggregator_address(servers[0].url), servers[0].operator_token)
        network = make_network(n_reports, seed=0)
        users = network.graph.names
        tokens = operator.enrol(users, progress)
        operator.ask("POST", "/v1/rounds", {"id": "bench", "epsilon": 1.0})
        operator.ask("POST", "/v1/rounds/bench/open")
        reports = make_reports(network.graph, users, operator.parameters("bench"), None, progress)
        if limit is not None:
            ending.enter_context(hold_to_cores(_database_processes(folder), limit))
        before, own = _count_seconds(servers, folder), time.process_time()
        addresses = [aggregator_address(server.url) for server in servers]
        each = [tokens[user] for user in users]
        load = send_load(addresses, "bench", each, reports, concurrency=concurrency, progress=progress)
        after, own = _count_seconds(servers, folder), time.process_time() - own
    return _describe(load, n_servers, n_reports) | {
        "server_cores": (after[0] - before[0]) / load.seconds,
        "database_cores": (after[1] - before[1]) / load.seconds,
        "generator_cores": own / load.seconds,
    }


def _start_servers(n_servers: int, url: str, homes: Path, ending: ExitStack) -> list[LocalAggregator]:
    """Servers with a signing key and an operator's token in common."""
    servers: list[LocalAggregator] = []
    for number in range(n_servers):
        home = homes / str(number)
        home.mkdir()
        shared: dict[str, object] = {}
        if servers:
            shutil.copy2(homes / "0" / "signing-key", home / "signing-key")
            shared["operator_token"] = servers[0].operator_token
        servers.append(ending.enter_context(run_aggregator(database=url, data_folder=home, **shared)))
    return servers


def _describe(load: Load, n_servers: int, n_reports: int) -> dict[str, Any]:
    if load.statuses[201] != n_reports:
        raise PrivaCTError(
            f"only {load.statuses[201]} of {n_reports} reports were accepted: {load.failure or dict(load.statuses)}"
        )
    return {
        "servers": n_servers,
        "reports_per_second": n_reports / load.seconds,
        "p50_ms": load.percentile(0.5),
        "p99_ms": load.percentile(0.99),
    }


def _count_seconds(servers: list[LocalAggregator], folder: str) -> tuple[float, float]:
    """Processor seconds so far of the servers, and of the database's processes; zeros where the system does not tell."""
    mine = {server.process for server in servers}
    return sum(map(_seconds_of, mine)), sum(map(_seconds_of, _database_processes(folder)))


def _database_processes(folder: str) -> set[int]:
    """The processes of the PostgreSQL whose data are in a folder."""
    return {int(path.name) for path in Path("/proc").glob("[0-9]*") if _is_database(path, folder)}


def _is_database(process: Path, folder: str) -> bool:
    """Whether a process works in the data folder of a PostgreSQL."""
    try:
        return str((process / "cwd").readlink()) == f"{folder}/data"
    except OSError:
        return False


def _seconds_of(process: int) -> float:
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
