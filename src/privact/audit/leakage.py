"""What is inside a released tree, byte by byte: everything in the file against a list of what may be there.

Allowed are the structure of the tree, public parameters of the round and of the search, ids of users, and what the format
itself needs. Every byte belongs to a listed field: padding must be zero, derived arrays must follow from the tree, the
header must be spelled in the one way the format has. So there is no room in which anything else could travel, such as
the number of edges at a node.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from privact.errors import FileFormatError, InputError, TreeError
from privact.protocol.round_ids import ROUND_ID
from privact.tree.formats.hct_file import FORMAT_VERSION, MAGIC
from privact.tree.hct import HierarchicalClusterTree
from privact.tree.layout import Layout, find_layout_problem
from privact.tree.user_ids import find_ids_problem

__all__ = ["PUBLIC_PARAMETERS", "Field", "inspect_release"]

_PREFIX: Final = 24
_ALIGNMENT: Final = 64
_DIGEST: Final = 32
_SHOWN: Final = 60
_ARRAYS: Final = (*Layout._fields, "users")
_HEADER: Final = ("arrays", "ids", "parameters", "privact")


@dataclass(frozen=True)
class Field:
    """Something inside a release.

    name: where it is.
    kind: "format", "tree", "parameter" or "users"; "unknown" for what no list names.
    value: what it holds, shortened.
    problem: why it may not be released, or "" if it may.
    """

    name: str
    kind: str
    value: str
    problem: str = ""

    @property
    def allowed(self) -> bool:
        """Whether it may be released."""
        return not self.problem


def _whole(low: int, high: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and low <= value <= high


def _number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and value >= 0


def _text(pattern: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None


_SECONDS = _whole(0, 253_402_300_799)
_HEX_DIGEST = _text("[0-9a-f]{64}")

PUBLIC_PARAMETERS: Final[dict[str, Callable[[Any], bool]]] = {
    "round": _text(ROUND_ID),
    "round_digest": _HEX_DIGEST,
    "protocol_version": _whole(1, 255),
    "epsilon": _number,
    "epsilon_report": _number,
    "n_bins": _whole(1, 2**16),
    "n_users": _whole(1, 2**31 - 1),
    "n_reports": _whole(1, 2**31 - 1),
    "bins": _text("random|labels"),
    "bins_seed": _text("([0-9a-f]{2}){16,32}"),
    "labels_digest": _HEX_DIGEST,
    "opens": _SECONDS,
    "closes": _SECONDS,
    "rounds": _whole(1, 100),
    "series": _text(ROUND_ID),
    "series_rounds": lambda value: isinstance(value, list) and len(value) <= 100 and all(map(_whole(1, 100), value)),
    "joiner_seconds": _SECONDS,
    "profile": _text(r"counts|shares|shares\+own|series"),
    "denoise": lambda value: isinstance(value, bool),
    "search": _text(r"gentree|linkage|linkage\+gentree"),
    "search_seed": _whole(0, 2**63 - 1),
    "balance": lambda value: _number(value) and value <= 0.5,
}
"""The public parameters that a release may name, and whether a value can be one: a few bytes each, known before any report."""


def inspect_release(path: str | Path) -> list[Field]:
    """List everything inside a released tree, and whether it may be there.

    path: a tree file (.hct), or a tree as JSON.

    Nothing may be released whose field is not `allowed`.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from None
    if data.startswith(MAGIC):
        return _tree_file(data, path)
    try:
        return _json_text(data.decode())
    except (UnicodeDecodeError, TreeError, InputError):
        raise FileFormatError(
            f"{path} is neither a tree file nor a tree as JSON: give what privact or an aggregator released"
        ) from None


def _tree_file(data: bytes, path: str | Path) -> list[Field]:
    """The fields of a tree file, in the order in which they lie in it."""
    version, header_length = int.from_bytes(data[8:12], "little"), int.from_bytes(data[12:16], "little")
    body_begin = _align(_PREFIX + header_length)
    try:
        header = json.loads(data[_PREFIX : _PREFIX + header_length])
        arrays = dict(header["arrays"])
        extents = sorted((entry["offset"], _bytes_of(entry), name) for name, entry in arrays.items())
    except (ValueError, KeyError, TypeError, RecursionError):
        raise FileFormatError(f"{path} has a header that makes no sense: fetch it again") from None
    canonical = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    known = version == FORMAT_VERSION and int.from_bytes(data[16:24], "little") == len(data)
    found = [
        Field("prefix", "format", f"version {version}, {len(data)} bytes", "" if known else "is not that of this format"),
        Field(
            "header", "format", f"{header_length} bytes of JSON",
            "" if canonical == data[_PREFIX : _PREFIX + header_length] else "is not spelled in the one way it has",
        ),
    ]  # fmt: skip
    found += [_unknown(f"header.{name}", value) for name, value in header.items() if name not in _HEADER]
    found.append(_version(header.get("privact")))
    if "ids" in header:
        found.append(
            Field("header.ids", "format", _short(header["ids"]), "" if header["ids"] == "integers" else "is not 'integers'")
        )
    found += _parameters(header.get("parameters", {}))
    end, gaps = _PREFIX + header_length, []
    for offset, length, name in extents:
        begin = body_begin + offset
        gaps.append(data[end:begin] if begin >= end else b"overlap")
        end = begin + length
        if name not in _ARRAYS:
            found.append(Field(f"arrays.{name}", "unknown", f"{length} bytes", "no such array belongs to a tree"))
    gaps.append(data[end:-_DIGEST])
    spare = sum(map(len, gaps))
    tight = not any(map(any, gaps)) and len(data) == _align(end) + _DIGEST
    found.append(Field("padding", "format", f"{spare} bytes", "" if tight else "is not zeros up to the next multiple of 64"))
    right = hashlib.blake2b(data[:-_DIGEST], digest_size=_DIGEST).digest() == data[-_DIGEST:]
    found.append(Field("checksum", "format", f"{_DIGEST} bytes", "" if right else "is not that of the file"))
    if all(field.allowed for field in found):  # then the loader can read it, and has the last word on the arrays
        return found + _content(HierarchicalClusterTree.load(path))
    return found


def _content(tree: HierarchicalClusterTree) -> list[Field]:
    """The arrays of a tree: the loader has found that each follows from the two that say who is whose child."""
    problem = find_layout_problem(tree.layout) or ""
    fields = [Field(f"arrays.{name}", "tree", f"{len(array)} numbers", problem) for name, array in tree.layout._asdict().items()]
    return fields + _ids(tree)


def _ids(tree: HierarchicalClusterTree) -> list[Field]:
    """The ids of users, if there are any."""
    if tree.users is None:
        return []
    problem = find_ids_problem(tree.users.packed, tree.n_users) or ""
    return [Field("users", "users", f"{tree.n_users} ids, {len(tree.users.packed)} bytes", problem)]


def _json_text(text: str) -> list[Field]:
    """The fields of a tree as JSON."""
    tree = HierarchicalClusterTree.from_json(text)
    content = json.loads(text)
    known = ("format", "version", "parameters", "users", "left", "right")
    found = [_unknown(name, value) for name, value in content.items() if name not in known]
    spelled = not found and tree.to_json().strip() == text.strip()
    found.insert(0, Field("json", "format", f"{len(text)} characters", "" if spelled else "is not the one text of this tree"))
    found += _parameters(content.get("parameters", {}))
    found += [Field(name, "tree", f"{tree.n_users - 1} numbers") for name in ("left", "right")]
    return found + _ids(tree)


def _parameters(parameters: Any) -> list[Field]:
    """Every parameter by name; those without a name on the list, and values that could hold more, are problems."""
    if not isinstance(parameters, dict):
        return [_unknown("parameters", parameters)]
    fields = []
    for name, value in parameters.items():
        if name not in PUBLIC_PARAMETERS:
            fields.append(_unknown(f"parameters.{name}", value))
        else:
            problem = "" if PUBLIC_PARAMETERS[name](value) else "is not a value that this parameter can have"
            fields.append(Field(f"parameters.{name}", "parameter", _short(value), problem))
    if "epsilon" not in parameters:
        fields.append(Field("parameters.epsilon", "parameter", "missing", "is not there: nothing says that counts were noisy"))
    epsilon, per_report = parameters.get("epsilon", 0), parameters.get("epsilon_report", 0)
    if "epsilon_report" in parameters and _number(epsilon) and _number(per_report) and per_report != epsilon / 2:
        fields.append(Field("parameters.epsilon_report", "parameter", _short(per_report), "is not half of epsilon"))
    return fields


def _version(version: Any) -> Field:
    plain = isinstance(version, str) and re.fullmatch(r"[0-9A-Za-z.+]{1,32}", version) is not None
    return Field("header.privact", "format", _short(version), "" if plain else "is not a version")


def _unknown(name: str, value: Any) -> Field:
    return Field(name, "unknown", _short(value), "is on no list of what may be released")


def _bytes_of(entry: dict[str, Any]) -> int:
    return int(math.prod(entry["shape"]) * np.dtype(entry["dtype"]).itemsize)


def _short(value: Any) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}... ({len(text)} characters)"


def _align(length: int) -> int:
    return -(-length // _ALIGNMENT) * _ALIGNMENT
