"""The tree's own file: JSON header, aligned arrays, checksum over everything. Never pickle.

    0   8   magic, in the manner of PNG: any text-mode transfer breaks it
    8   4   format version, little-endian like all numbers here
    12  4   length of the header in bytes
    16  8   length of the whole file in bytes
    24      header: JSON with "arrays" (dtype, shape, offset), "parameters" and "privact", the version that wrote it;
            "ids": "integers" where ids that are spelled as integers are integers, otherwise all ids are text
            from 10,000 users with ids on also "indexes", described as "arrays" are, which a reader may ignore
            zeros up to a multiple of 64, where the data begin and offsets count from
            arrays, each at a multiple of 64: the six of `Layout`, and "users" (packed ids) if there are any;
            then indexes: "users_by_hash", the leaves in the order of the FNV-1a hashes of their ids
    -32 32  BLAKE2b-256 of all bytes before

All derived arrays are stored, and an index of ids, so that a query needs neither a compiler nor a walk over the tree.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import struct
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from privact.errors import FileFormatError, InputError
from privact.storage import write_whole
from privact.tree.arrays import TreeArrays
from privact.tree.layout import Layout, find_layout_problem
from privact.tree.parameters import write_parameters
from privact.tree.user_ids import INDEXED_FROM, UserIds, find_ids_problem, find_index_problem

MAGIC = b"\x89HCT\r\n\x1a\n"
FORMAT_VERSION = 1
_PREFIX = struct.Struct("<8sIIQ")
_ALIGNMENT = 64
_DIGEST = 32
_DTYPES = dict.fromkeys(Layout._fields, "<i4") | {"users": "|u1"}
_INDEX_DTYPES = {"users_by_hash": "<i4"}


def write_tree_file(tree: TreeArrays, path: str | Path) -> None:
    """Write a tree, all or nothing; see `HierarchicalClusterTree.save`."""
    with write_whole(path) as stream:
        write_tree_bytes(tree, stream)


def write_tree_bytes(tree: TreeArrays, stream: IO[bytes]) -> None:
    """Write the bytes of a tree's file to a stream."""
    arrays: dict[str, NDArray[Any]] = {name: array.astype("<i4", copy=False) for name, array in tree.layout._asdict().items()}
    if tree.users is not None:
        arrays["users"] = np.frombuffer(tree.users.packed, np.uint8)
    indexes: dict[str, NDArray[Any]] = {}
    if tree.users is not None and len(tree.users) >= INDEXED_FROM:
        indexes["users_by_hash"] = tree.users.order_by_hash().astype("<i4", copy=False)
    entries, end = _place_arrays(arrays, 0)
    index_entries, end = _place_arrays(indexes, end)
    content = {"arrays": entries, "parameters": dict(tree.parameters), "privact": _package_version()}
    if tree.users is not None and tree.users.integers:
        content["ids"] = "integers"
    if indexes:
        content["indexes"] = index_entries
    header = json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
    data_begin = _align(_PREFIX.size + len(header))
    checksum = hashlib.blake2b(digest_size=_DIGEST)

    def write_checked(chunk: bytes | memoryview) -> None:
        checksum.update(chunk)
        stream.write(chunk)

    write_checked(_PREFIX.pack(MAGIC, FORMAT_VERSION, len(header), data_begin + end + _DIGEST) + header)
    write_checked(bytes(data_begin - _PREFIX.size - len(header)))
    for array in (*arrays.values(), *indexes.values()):
        write_checked(np.ascontiguousarray(array).data)
        write_checked(bytes(_align(array.nbytes) - array.nbytes))
    stream.write(checksum.digest())


def read_tree_file(path: str | Path, memory_map: bool = False) -> tuple[Layout, UserIds | None, str]:
    """The arrays, ids and parameters in a file, verified; see `HierarchicalClusterTree.load`."""
    data = _read_bytes(Path(path), memory_map)

    def refuse(reason: str) -> FileFormatError:
        return FileFormatError(f"{path} {reason}")

    start = data[: len(MAGIC)]
    if not start:
        raise refuse("is empty")
    if not MAGIC.startswith(start):
        raise refuse("is not a tree file of privact")
    if len(data) < _PREFIX.size:
        raise refuse(f"is cut off after {len(data)} bytes: fetch it again")
    _, version, header_length, length = _PREFIX.unpack_from(data)
    if version > FORMAT_VERSION:
        raise refuse(
            f"has format version {version}, this privact reads up to {FORMAT_VERSION}: update privact, or fetch it again"
        )
    if version < 1:
        raise refuse("is damaged in its first bytes: fetch it again")
    if len(data) != length:
        raise refuse(f"has {len(data)} bytes where its header says {length}: it is cut off or damaged, fetch it again")
    body = memoryview(data)[:-_DIGEST]
    if hashlib.blake2b(body, digest_size=_DIGEST).digest() != data[-_DIGEST:]:
        raise refuse("does not match its checksum: it is damaged, fetch it again")

    # The checksum only shows that the file is as written; its content may still be invalid.
    try:
        header = json.loads(bytes(body[_PREFIX.size : _PREFIX.size + header_length]))
        data_bytes = body[_align(_PREFIX.size + header_length) :]
        arrays = _read_arrays(header["arrays"], data_bytes, _DTYPES)
        known = {name: entry for name, entry in header.get("indexes", {}).items() if name in _INDEX_DTYPES}
        by_hash = _read_arrays(known, data_bytes, _INDEX_DTYPES).get("users_by_hash")
        parameters = write_parameters(header["parameters"])
        integers = "ids" in header
        if integers and header["ids"] != "integers":
            raise ValueError(f"ids are {header['ids']!r}, which is neither text nor integers")
        layout = Layout(*(arrays[name] for name in Layout._fields))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, InputError) as error:
        raise refuse(f"has an invalid header ({type(error).__name__}: {error})") from None
    packed = arrays["users"].tobytes() if "users" in arrays else None
    problem = find_layout_problem(layout)
    if problem is None and packed is not None:
        problem = find_ids_problem(packed, len(layout.order)) or find_index_problem(by_hash, len(layout.order))
    if problem is not None:
        raise refuse(f"does not hold a tree: {problem}")
    return layout, None if packed is None else UserIds(packed, integers, by_hash), parameters


def _read_bytes(path: Path, memory_map: bool) -> bytes | mmap.mmap:
    try:
        if path.exists() and not path.is_file():
            raise InputError(f"cannot read {path}: it is not a regular file")
        with open(path, "rb") as stream:
            if memory_map and stream.seek(0, 2):  # an empty file cannot be mapped
                return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
            stream.seek(0)
            return stream.read()
    except OSError as error:
        raise InputError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from None


def _place_arrays(arrays: dict[str, NDArray[Any]], begin: int) -> tuple[dict[str, Any], int]:
    """The header's entries of arrays that lie one after the other from `begin` on, and where the last one ends."""
    entries: dict[str, Any] = {}
    for name, array in arrays.items():
        entries[name] = {"dtype": array.dtype.str, "shape": list(array.shape), "offset": begin}
        begin = _align(begin + array.nbytes)
    return entries, begin


def _read_arrays(entries: dict[str, Any], data: memoryview, dtypes: dict[str, str]) -> dict[str, NDArray[Any]]:
    """The arrays that header entries describe, each checked to lie within the data.

    dtypes: the type that each array must have.
    """
    arrays = {}
    for name, entry in entries.items():
        (count,), offset, dtype = entry["shape"], entry["offset"], np.dtype(dtypes[name])
        if entry["dtype"] != dtypes[name] or type(count) is not int or type(offset) is not int:
            raise ValueError(f"array {name} is not described as it should be")
        if count < 0 or offset < 0 or offset % _ALIGNMENT or offset + count * dtype.itemsize > len(data):
            raise ValueError(f"array {name} does not lie within the file")
        arrays[name] = np.frombuffer(data, dtype, count, offset) if count else np.empty(0, dtype)
    return arrays


def _align(length: int) -> int:
    return -(-length // _ALIGNMENT) * _ALIGNMENT


def _package_version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # slow to import, and reading needs none of it

    try:
        return version("privact")
    except PackageNotFoundError:
        return "unknown"
