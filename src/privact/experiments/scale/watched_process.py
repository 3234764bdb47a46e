"""A command run to its end or to the end of patience, and the memory that all its processes took together."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

__all__ = ["machine_memory", "run_watched"]


def run_watched(command: list[str], patience: float | None) -> tuple[int | None, str, float]:
    """Run a command; its exit code (None if it took too long), what it said, and the memory of its processes at their peak."""
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT, start_new_session=True)
        begin, peak = time.monotonic(), 0.0
        try:
            while process.poll() is None:
                peak = max(peak, _session_mb(process.pid))
                if patience is not None and time.monotonic() - begin > patience:
                    return None, "", peak
                time.sleep(0.1)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        said.seek(0)
        return process.returncode, said.read(), peak


def _session_mb(session: int) -> float:
    """Resident memory of all processes of a session, in MB; pages that they share count for each."""
    total = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:  # it has just ended
            continue
        if int(fields[3]) == session:
            total += int(fields[21])
    return total * os.sysconf("SC_PAGE_SIZE") / 2**20


def machine_memory() -> int:
    """Memory of the machine in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
