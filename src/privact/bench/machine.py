"""What machine measured something; never whose."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

from privact.experiments.running.versions import versions

__all__ = ["describe_machine"]


def describe_machine() -> dict[str, Any]:
    """Processor, cores and memory, the versions that computed something, and a digest of our own code."""
    return {
        "processor": _read_processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_mb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**20),
        "versions": versions(),
        "code": _digest_code(),
    }


def _read_processor() -> str:
    """The model of the processor, "unknown" where the system does not tell."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return "unknown"
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def _digest_code() -> str:
    """A digest of all modules of the package: two runs with the same one measured the same code."""
    root = Path(__file__).parents[1]
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(root.rglob("*.py")):
        digest.update(f"{path.relative_to(root)}\n".encode() + path.read_bytes())
    return digest.hexdigest()
