"""The token that a device has drawn for an invitation, kept until the aggregator knows it and the account is there.

It is on disk before the invitation is used: whatever happens in between, the same token is offered again.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from privact.protocol.invitation_links import new_token_for
from privact.storage import make_private_folder, write_privately

__all__ = ["forget_token", "keep_token"]

_FILE = "joining.json"


def keep_token(home: Path, code: str) -> str:
    """The token for an invitation: the one that was drawn for it before, or a new one; on disk when this returns.

    home: the device's folder. code: of the invitation; only its SHA-256 is kept.
    """
    file, name = make_private_folder(home) / _FILE, hashlib.sha256(code.encode()).hexdigest()
    try:
        kept = json.loads(file.read_bytes())
        if kept["invitation"] == name:
            return str(kept["token"])
    except (OSError, ValueError, LookupError, TypeError):
        pass  # there is none, or one that no invitation can need any more
    token = new_token_for(code)
    write_privately(file, json.dumps({"invitation": name, "token": token}).encode())
    return token


def forget_token(home: Path) -> None:
    """Remove a token that is kept in its account now."""
    (home / _FILE).unlink(missing_ok=True)
