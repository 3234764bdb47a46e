"""Degree vectors of a long edge list, counted block by block.

python -m privact.bench.reading EDGES

Keys: `contacts` in the file, `users`, `bytes` of the file; `seconds`, `processor_seconds`, and `peak_mb` of the process that
reads it. They are stable: later versions add keys and keep these.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from privact.bench.benchmark import Speed, Table, Task
from privact.errors import PrivaCTError
from privact.experiments.scale.watched_process import run_watched
from privact.network.streamed_degrees import stream_degree_vectors
from privact.protocol.bins import assign_bins
from privact.protocol.round import default_bins

__all__ = ["list_speeds", "make_tables", "measure", "write_contacts"]

WRITTEN = 1 << 20
"""Contacts drawn and written at a time."""


def measure(task: Task) -> dict[str, Any]:
    """Write an edge list, and count it in a process of its own."""
    contacts = task.options["contacts"]
    with tempfile.TemporaryDirectory(prefix="privact-") as folder:
        path = Path(folder) / "contacts.tsv"
        task.show(f"writing {contacts:,} contacts")
        write_contacts(path, contacts)
        task.show(f"reading {contacts:,} contacts")
        code, output, peak = run_watched([sys.executable, "-m", "privact.bench.reading", str(path)], None)
        if code != 0:
            raise PrivaCTError(f"reading {contacts:,} contacts ended with {code}: {output.strip()[-200:]}")
        return {**json.loads(output), "bytes": path.stat().st_size, "peak_mb": peak}


def write_contacts(path: Path, count: int) -> None:
    """Write an edge list of accounts in which few users have many contacts; a tenth as many users as contacts."""
    rng = np.random.default_rng(0)
    with open(path, "w") as stream:
        for first in range(0, count, WRITTEN):
            drawn = (rng.random((min(WRITTEN, count - first), 2)) ** 1.5 * (count // 10)).astype(np.int64)
            stream.writelines(f"user{one}@example.social\tuser{other}@example.social\n" for one, other in drawn.tolist())


def main(path: str) -> None:
    """Count the contacts of a file and print what it took as JSON."""
    with tempfile.TemporaryDirectory(dir=Path(path).parent) as folder:
        few = Path(folder) / "few.tsv"
        few.write_text("one@example.social\tother@example.social\n")
        stream_degree_vectors(few, Path(folder), lambda users: (np.zeros(len(users), np.int32), 1))  # compile before the clock
        begin, used = time.perf_counter(), time.process_time()
        found = stream_degree_vectors(
            path, Path(folder), lambda users: (assign_bins(users, bytes(16), default_bins(len(users))), default_bins(len(users)))
        )
        seconds, processor = time.perf_counter() - begin, time.process_time() - used
    facts = {"contacts": found.n_edges + found.dropped_duplicates + found.dropped_self_loops, "users": len(found.users)}
    sys.stdout.write(json.dumps({**facts, "seconds": seconds, "processor_seconds": processor}))


def make_tables(result: dict[str, Any]) -> list[Table]:
    """One row."""
    cells = [f"{result['contacts']:,}", f"{result['users']:,}", f"{result['bytes'] / 1e9:.2f}"]
    cells += [f"{result[key]:,.1f}" for key in ("seconds", "processor_seconds", "peak_mb")]
    heading = ["contacts", "users", "GB of text", "seconds", "processor s", "MB"]
    return [Table("Degree vectors of an edge list, in little memory", heading, [cells], range(6))]


def list_speeds(result: dict[str, Any]) -> list[Speed]:
    """Seconds and memory."""
    name = f"{result['contacts']:,} contacts"
    return [Speed(name, result["seconds"], "s"), Speed(f"{name}, memory", result["peak_mb"], "MB")]


if __name__ == "__main__":
    main(*sys.argv[1:])
