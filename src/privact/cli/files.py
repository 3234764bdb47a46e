"""What commands read and write: trees, users named by a person, public labels, and outputs that are checked before the work."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from privact.errors import InputError

if TYPE_CHECKING:
    from privact.recommend.data.ratings import Repeats
    from privact.tree.hct import HierarchicalClusterTree, User

__all__ = [
    "DataFolder",
    "GraphPath",
    "JsonFile",
    "RepeatsChoice",
    "TreePath",
    "UserName",
    "check_output",
    "find_user",
    "keep_json",
    "read_labels",
    "read_repeats",
    "write_json",
]

TreePath = Annotated[Path, typer.Argument(metavar="TREE", help="A tree file, as privact learn writes it.", show_default=False)]
GraphPath = Annotated[
    Path,
    typer.Argument(metavar="GRAPH", help="Contacts: an edge list, GraphML, GML or MatrixMarket file.", show_default=False),
]
DataFolder = Annotated[
    Path | None, typer.Option(help="Folder with lastfm, delicious and douban; else PRIVACT_DATA.", show_default=False)
]
JsonFile = Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Also write everything as JSON.")]
RepeatsChoice = Annotated[
    str, typer.Option("--repeats", metavar="last|mean|error", help="What to do where a user rates an item again.")
]
UserName = Annotated[str, typer.Argument(metavar="USER", help="The id of a user.", show_default=False)]


def check_output(path: Path) -> Path:
    """The path, if a file can be written there: found out before the work, not after it."""
    folder = path.parent
    if not folder.is_dir():
        raise InputError(f"cannot write {path}: there is no folder {folder}: make it first")
    if path.is_dir():
        raise InputError(f"cannot write {path}: it is a folder: name a file")
    if not os.access(folder, os.W_OK):
        raise InputError(f"cannot write {path}: folder {folder} is read-only: choose another")
    return path


def write_json(result: dict[str, Any], target: Path | None) -> None:
    """Write a result as JSON, if asked to."""
    from privact.storage import write_whole

    if target is not None:
        with write_whole(target) as file:
            file.write((json.dumps(result, indent=1) + "\n").encode())


def keep_json(result: dict[str, Any], target: Path | None) -> None:
    """Write everything as JSON, if asked to, and say so."""
    write_json(result, target)
    if target is not None:
        print(f"\nEverything is in {target}.")


def find_user(tree: HierarchicalClusterTree, name: str) -> User:
    """The user whom a person means; if there is none, the error names ids that are spelled alike."""
    if tree.users is None:
        user: User = int(name) if name.isascii() and name.isdigit() else name
        tree.leaf_of(user)
        return user
    tree.leaf_of(name)
    return name


def read_repeats(choice: str) -> Repeats:
    """What --repeats says, or InputError."""
    from privact.recommend.data.ratings import REPEATS

    if choice not in REPEATS:
        raise InputError(f"--repeats {choice} is unknown: give last, mean or error")
    return cast("Repeats", choice)


def read_labels(path: Path, users: Sequence[str]) -> list[str | None]:
    """The public label of each user from a file of labels; None for users it does not name. Lines about others are skipped."""
    from privact.protocol.label_files import parse_labels

    try:
        label_of = parse_labels(path.read_bytes())
    except OSError as error:
        raise InputError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from None
    except InputError as error:
        raise InputError(f"{path}{',' if str(error).startswith('line') else ':'} {error}") from None
    labels = [label_of.get(user) for user in users]
    if not any(label is not None for label in labels):
        raise InputError(f"{path} names none of the {len(users)} users: give lines 'user<TAB>label'")
    return labels
