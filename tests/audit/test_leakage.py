"""What a release may hold: every byte is named, and anything more is found."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from privact.audit.leakage import Field, inspect_release
from privact.errors import FileFormatError, InputError
from privact.tree.hct import HierarchicalClusterTree

PARAMETERS: dict[str, Any] = {
    "round": "spring", "round_digest": "ab" * 32, "protocol_version": 1, "epsilon": 1.0, "epsilon_report": 0.5, "n_bins": 3,
    "n_users": 5, "n_reports": 4, "bins": "labels", "labels_digest": "cd" * 32, "opens": 1, "closes": 2, "joiner_seconds": 0,
    "profile": "counts", "denoise": True, "search": "linkage+gentree", "search_seed": 0,
}  # fmt: skip
TREE = HierarchicalClusterTree.from_nested((("ann", "bob"), ("eve", "fay")))


def released(folder: Path, **changes: Any) -> Path:
    path = folder / "tree.hct"
    TREE.save(path, {**PARAMETERS, **changes})
    return path


def problems(path: Path) -> list[str]:
    return [field.name for field in inspect_release(path) if not field.allowed]


def rewritten(path: Path, header: dict[str, Any], body: bytes, spelled: Any = None) -> Path:
    """A tree file with another header and body, and lengths and checksum that are right all the same."""
    text = json.dumps(header, sort_keys=True, separators=spelled or (",", ":")).encode()
    begin = -(-(24 + len(text)) // 64) * 64
    data = path.read_bytes()[:12] + len(text).to_bytes(4, "little") + (begin + len(body) + 32).to_bytes(8, "little") + text
    data += bytes(begin - len(data)) + body
    path.write_bytes(data + hashlib.blake2b(data, digest_size=32).digest())
    return path


def taken_apart(path: Path) -> tuple[dict[str, Any], bytes]:
    data = path.read_bytes()
    length = int.from_bytes(data[12:16], "little")
    return json.loads(data[24 : 24 + length]), data[-(-(24 + length) // 64) * 64 : -32]


def test_a_release_holds_a_tree_parameters_and_ids(tmp_path: Path) -> None:
    fields = inspect_release(released(tmp_path))
    assert all(field.allowed for field in fields)
    names = {kind: {field.name for field in fields if field.kind == kind} for kind in ("tree", "parameter", "users", "unknown")}
    assert names["tree"] == {f"arrays.{name}" for name in ("left", "right", "parent", "size", "order", "start")}
    assert names["parameter"] == {f"parameters.{name}" for name in PARAMETERS}
    assert names["users"] == {"users"}
    assert names["unknown"] == set()


def test_ids_are_optional(tmp_path: Path) -> None:
    HierarchicalClusterTree.from_nested(((0, 1), 2)).save(tmp_path / "tree.hct", PARAMETERS)
    fields = inspect_release(tmp_path / "tree.hct")
    assert all(field.allowed for field in fields)
    assert "users" not in {field.kind for field in fields}


def test_json_is_inspected_too(tmp_path: Path) -> None:
    path = tmp_path / "tree.json"
    text = TREE.with_parameters(PARAMETERS).to_json()
    path.write_text(text)
    assert problems(path) == []
    path.write_text(json.dumps({**json.loads(text), "edges": [3, 1, 4]}))
    assert "edges" in problems(path)
    path.write_text(text.replace("{", "{ ", 1))  # blanks can carry bits
    assert problems(path) == ["json"]


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"edges": [4, 1, 0]}, ["parameters.edges"]),
        ({"noise_seed": 5}, ["parameters.noise_seed"]),
        ({"n_bins": [1, 2, 3]}, ["parameters.n_bins"]),
        ({"n_bins": True}, ["parameters.n_bins"]),
        ({"n_bins": 10**30}, ["parameters.n_bins"]),
        ({"search": "linkage, and ann knows eve"}, ["parameters.search"]),
        ({"round": {"counts": 1}}, ["parameters.round"]),
        ({"epsilon_report": 1.0}, ["parameters.epsilon_report"]),
        ({"denoise": "ann-eve"}, ["parameters.denoise"]),
        ({"labels_digest": "ab"}, ["parameters.labels_digest"]),
    ],
)
def test_what_is_no_public_parameter_is_found(tmp_path: Path, changes: dict[str, Any], found: list[str]) -> None:
    assert problems(released(tmp_path, **changes)) == found


def test_a_tree_that_names_no_epsilon_is_no_release(tmp_path: Path) -> None:
    TREE.save(tmp_path / "tree.hct", {"search": "linkage", "n_bins": 2})
    assert problems(tmp_path / "tree.hct") == ["parameters.epsilon"]


def test_an_array_more_is_found(tmp_path: Path) -> None:
    path = released(tmp_path)
    header, body = taken_apart(path)
    header["arrays"]["edges"] = {"dtype": "<i4", "shape": [3], "offset": len(body)}
    assert problems(rewritten(path, header, body + bytes([4, 0, 0, 0, 1] + [0] * 59))) == ["arrays.edges"]


def test_a_header_entry_more_is_found(tmp_path: Path) -> None:
    path = released(tmp_path)
    header, body = taken_apart(path)
    assert problems(rewritten(path, {**header, "edges": "4,1,0"}, body)) == ["header.edges"]


def test_another_spelling_of_the_header_is_found(tmp_path: Path) -> None:
    path = released(tmp_path)
    assert problems(rewritten(path, *taken_apart(path), spelled=(", ", ":"))) == ["header"]


def test_bytes_between_and_behind_arrays_are_found(tmp_path: Path) -> None:
    path = released(tmp_path)
    header, body = taken_apart(path)
    assert problems(rewritten(path, header, body)) == []
    hidden = bytearray(body)
    hidden[header["arrays"]["left"]["offset"] + 13] = 1  # three numbers are 12 bytes
    assert problems(rewritten(path, header, bytes(hidden))) == ["padding"]
    assert problems(rewritten(path, header, body + bytes(64))) == ["padding"]


def test_a_wrong_version_or_checksum_is_found(tmp_path: Path) -> None:
    path = released(tmp_path)
    header, body = taken_apart(path)
    assert problems(rewritten(path, {**header, "privact": "ann knows eve"}, body)) == ["header.privact"]
    data = released(tmp_path).read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    assert problems(path) == ["checksum"]


def test_numbers_that_do_not_follow_from_the_tree_are_refused(tmp_path: Path) -> None:
    path = released(tmp_path)
    header, body = taken_apart(path)
    changed = bytearray(body)
    changed[header["arrays"]["size"]["offset"]] += 1
    with pytest.raises(FileFormatError, match="does not hold a tree"):
        inspect_release(rewritten(path, header, bytes(changed)))


def test_long_values_are_shortened(tmp_path: Path) -> None:
    fields = inspect_release(released(tmp_path, secret="x" * 1000))
    assert Field("parameters.secret", "unknown", '"' + "x" * 59 + "... (1002 characters)", fields[-3].problem) in fields


@pytest.mark.parametrize("content", [b"", b"\x00\xff\x00", b"hello", b"{}", b'{"format": 3}', b"[1, 2]"])
def test_what_is_no_tree_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match="neither a tree file nor a tree as JSON"):
        inspect_release(path)


def test_a_damaged_header_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    path = released(tmp_path)
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(FileFormatError, match="header that makes no sense"):
        inspect_release(path)
    with pytest.raises(InputError, match="cannot read"):
        inspect_release(tmp_path / "nothing.hct")
