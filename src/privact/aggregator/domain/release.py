"""The released artefact: a tree file with the tree, the ids of its users and the round's public parameters; nothing else.

`<data folder>/releases/<round id>.hct` appears whole or not at all, holds no time but the round's own, and is never
changed, but for the names of erased users: the same reports and the same seed are the same bytes. Leaves are
in the order of user digests.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, insert, or_, update

from privact.aggregator.storage.database import Store
from privact.aggregator.storage.schema import releases, rounds
from privact.aggregator.storage.shared_files import share_file
from privact.aggregator.storage.stored_reports import StoredRound
from privact.errors import PrivaCTError
from privact.tree.hct import HierarchicalClusterTree

__all__ = [
    "count_joiners_in",
    "count_late",
    "evidence_path",
    "fail_round",
    "joined_folder",
    "public_parameters",
    "record_release",
    "release_path",
    "remove_drafts",
    "sha256_of",
]

_AT_REST: Final[dict[str, Any]] = {"stage": None, "done": 0, "total": 0, "lease_holder": None, "lease_until": None}


def release_path(folder: Path, round_id: str) -> Path:
    """Where the released tree of a round is.

    folder: of releases. round_id: safe in file names, as every round's id is.
    """
    return folder / f"{round_id}.hct"


def evidence_path(releases: Path, round_id: str) -> Path:
    """Where the evidence of a round is, given where releases are."""
    return releases.parent / "evidence" / f"{round_id}.json"


def joined_folder(releases: Path) -> Path:
    """Where the trees with late joiners are, given where releases are."""
    return releases.parent / "joined"


def count_joiners_in(path: Path, digest: bytes) -> int:
    """How many late joiners the tree at a path holds; 0 if there is none, or one of another round of the same name.

    digest: of the round.
    """
    try:
        tree = HierarchicalClusterTree.load(path, memory_map=True)
    except PrivaCTError:
        return 0
    return count_late(tree) if tree.parameters.get("round_digest") == digest.hex() else 0


def count_late(tree: HierarchicalClusterTree) -> int:
    """How many leaves of a tree, the last ones, are users who joined late."""
    return tree.n_users - int(tree.parameters["n_reports"])


def public_parameters(stored: StoredRound) -> dict[str, Any]:
    """What a released tree says about itself: the round's parameters, which everybody knew before the first report, and how
    many reports the tree was learned from, which is its number of leaves."""
    round = stored.round
    source = {"bins_seed": round.seed.hex()} if round.bins == "random" else {"labels_digest": round.labels_digest.hex()}
    return {
        "round": round.id,
        "round_digest": round.digest().hex(),
        "protocol_version": round.version,
        "epsilon": round.epsilon,
        "epsilon_report": round.epsilon_report,
        "n_bins": round.n_bins,
        "n_users": round.n_users,
        "n_reports": stored.n_reports,
        "bins": round.bins,
        **source,
        "opens": round.opens,
        "closes": round.closes,
        "joiner_seconds": round.joiner_seconds,
        "profile": stored.profile,
        "search_seed": stored.search_seed,
    }


def sha256_of(path: Path) -> bytes:
    """SHA-256 of a file's bytes."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()


def record_release(
    store: Store,
    round_id: str,
    digest: bytes,
    n_users: int,
    holder: str | None = None,
    evidence: Mapping[str, Any] | None = None,
    releases_folder: Path | None = None,
) -> bool:
    """Say that a round is released: its state and the row of its release, both or neither.

    digest: SHA-256 of the file. n_users: leaves of its tree. holder: the server that learned it, which must hold the lease.
    evidence: what the rounds of a series told, for everybody to read.
    releases_folder: where the tree is; its files are put into a PostgreSQL database for other servers.
    Returns False if the round was not being learned any more, or by another server.
    """
    now = int(time.time())
    told = {} if evidence is None else {"evidence": json.dumps(dict(evidence))}
    with store.write() as connection:
        store.one_at_a_time(connection)  # before any row is locked: others take these locks in this order
        if not _settle(connection, round_id, holder, "learning", state="released", released=now, **told):
            return False
        connection.execute(insert(releases).values(round_id=round_id, digest=digest, n_users=n_users, released=now))
        if releases_folder is not None:
            for path in (release_path(releases_folder, round_id), evidence_path(releases_folder, round_id)):
                share_file(store, connection, releases_folder.parent, path)
    return True


def fail_round(store: Store, round_id: str, reason: str, holder: str | None = None) -> bool:
    """Say that a closed round cannot be learned; the operator may have it learned again.

    reason: one line for everybody to read. holder: the server that learned it, which must hold the lease.
    Returns False if the round was neither closed nor being learned, or by another server.
    """
    with store.write() as connection:
        return any(
            _settle(connection, round_id, holder, before, state="failed", failure=reason) for before in ("closed", "learning")
        )


def _settle(connection: Connection, round_id: str, holder: str | None, before: str, **values: Any) -> bool:
    """End the learning of a round, if it is in the state before and, with a holder, if that server holds it."""
    step = update(rounds).where(rounds.c.id == round_id, rounds.c.state == before)
    if holder is not None:
        step = step.where(or_(rounds.c.lease_holder.is_(None), rounds.c.lease_holder == holder))
    return connection.execute(step.values(**values, **_AT_REST)).rowcount == 1


def remove_drafts(folder: Path) -> None:
    """Remove what a process that was killed while writing left behind.

    folder: in which nobody else writes at this moment.
    """
    for draft in folder.glob(".privact-*.tmp"):
        draft.unlink(missing_ok=True)
