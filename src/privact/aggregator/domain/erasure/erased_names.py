"""The made-up names of erased users in tree files: the leaf stays, the id goes."""

from __future__ import annotations

import secrets
from collections.abc import Set
from dataclasses import replace
from pathlib import Path
from typing import Final

from privact.errors import PrivaCTError
from privact.tree.hct import HierarchicalClusterTree
from privact.tree.user_ids import UserIds

__all__ = ["ERASED", "is_erased_name", "strike_out"]

ERASED: Final = "erased-"
"""How the made-up name of an erased user begins; the rest is random."""


def is_erased_name(name: str) -> bool:
    """Whether a name in a tree stands for somebody who was erased."""
    return name.startswith(ERASED)


def strike_out(path: Path, names: Set[str]) -> bool:
    """Give users of a tree file made-up names; False if the file is not there or names none of them.

    path: of the tree; written again whole. names: normalised ids.
    """
    if not names:
        return False
    try:
        tree = HierarchicalClusterTree.load(path)
    except PrivaCTError:
        return False
    if tree.users is None or not any(name in tree.users for name in names):
        return False
    ids = [f"{ERASED}{secrets.token_hex(8)}" if user in names else user for user in tree.users]
    replace(tree, users=UserIds.of(ids)).save(path)
    return True
