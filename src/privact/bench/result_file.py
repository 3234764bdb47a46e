"""Files that benchmarks wrote: results, and what an interrupted run of all of them left."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from privact.errors import InputError

__all__ = ["read_measured", "read_result"]


def read_result(path: Path) -> Any:
    """What a file of `privact bench --json` holds."""
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from None
    except ValueError:
        raise InputError(f"{path} is not JSON: give a file that privact bench --json wrote") from None


def read_measured(path: Path, machine: dict[str, Any], quick: bool) -> dict[str, dict[str, Any]]:
    """The benchmarks that an interrupted run of `privact bench all --json` left, by name.

    machine, quick: what they must have been measured with; what differs would not be one run.
    """
    document = read_result(path)
    try:
        measured = dict(document["benchmarks"])
        others = [name for name, each in measured.items() if (each["machine"], each["quick"]) != (machine, quick)]
    except (LookupError, TypeError, ValueError):
        raise InputError(f"{path} is not of an interrupted privact bench all: leave --resume out") from None
    if others:
        raise InputError(f"{path} has {others[0]} of another machine, version or size: leave --resume out to measure all again")
    return measured
