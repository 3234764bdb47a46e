"""What was learned about the counts of a round, as a JSON file beside its tree: nobody has to fit it again."""

from __future__ import annotations

import json
from pathlib import Path

from privact.errors import FileFormatError, InputError
from privact.learn.evidence.profile import Evidence
from privact.learn.evidence.profiles import find_profile
from privact.storage import write_whole

__all__ = ["read_evidence", "write_evidence"]

_VERSION = 1


def write_evidence(evidence: Evidence, path: str | Path) -> None:
    """Write evidence to a file, whole or not at all. It holds what a fit of the reports gave, and no single report."""
    facts = {"version": _VERSION, "profile": evidence.profile, **find_profile(evidence.profile).describe(evidence)}
    with write_whole(path) as file:
        file.write(json.dumps(facts, allow_nan=False).encode())


def read_evidence(path: str | Path) -> Evidence:
    """Read evidence from a file; the same report has the same points and expected counts as before it was written."""
    try:
        facts = json.loads(Path(path).read_bytes())
        if facts["version"] != _VERSION:
            raise FileFormatError(f"{path} has version {facts['version']}, not {_VERSION}: learn the tree again to write it anew")
        return find_profile(facts["profile"]).restore(facts)
    except OSError as error:
        raise InputError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise FileFormatError(f"{path} is not a file of evidence ({type(error).__name__}): learn the tree again") from None
