"""docs/protocol.md is enough to write a device: our code, the vectors and a device written from the document alone agree.

vectors.json is fixed: nothing generates it. `Stranger` follows the document with hashlib, struct and unicodedata, and imports
nothing of ours.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import struct
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from privact.device.degrees import degree_vector
from privact.protocol.bins import assign_round_bins
from privact.protocol.labels import LabelTable
from privact.protocol.report import Report
from privact.protocol.round import Round
from privact.protocol.round_series import Series
from privact.protocol.users import normalise_user_id, user_digest

HERE = Path(__file__).parent
VECTORS: dict[str, Any] = json.loads((HERE / "vectors.json").read_text(encoding="utf-8"))
DOCUMENT = (HERE.parents[1] / "docs" / "protocol.md").read_text(encoding="utf-8")


class Stranger:
    """A device in thirty lines, written from docs/protocol.md."""

    WHITE = frozenset(
        [*range(9, 14), *range(28, 33), 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000]
    )

    def blake2b(self, data: bytes, size: int, key: bytes = b"") -> bytes:
        return hashlib.blake2b(data, digest_size=size, key=key).digest()

    def normal(self, written: str) -> str:
        text = unicodedata.normalize("NFC", unicodedata.normalize("NFD", written).casefold())
        begin, end = 0, len(text)
        while begin < end and (text[begin] == "@" or ord(text[begin]) in self.WHITE):
            begin += 1
        while end > begin and ord(text[end - 1]) in self.WHITE:
            end -= 1
        return text[begin:end]

    def round_bytes(self, r: dict[str, Any]) -> bytes:
        kind, source = (0, r["seed"]) if r["bins"] == "random" else (1, r["labels_digest"])
        numbers = r["epsilon"], r["n_bins"], r["n_users"], r["opens"], r["closes"], r["joiner_seconds"]
        name, source = r["id"].encode("ascii"), bytes.fromhex(source)
        tail = b""
        if "series_number" in r:
            kind, tail = kind + 2, struct.pack(">HHd", r["series_number"], r["series_rounds"], r["series_epsilon"])
        head = b"PCRD" + bytes([r["version"], kind]) + struct.pack(">dIIQQQ", *numbers)
        return head + bytes([len(name)]) + name + bytes([len(source)]) + source + tail

    def labels_bytes(self, key: bytes, n_labels: int, labels: dict[str, int]) -> bytes:
        entries = sorted(
            self.blake2b(self.normal(user).encode(), 8, key) + struct.pack(">H", label) for user, label in labels.items()
        )
        return b"PCLT" + struct.pack(">BII", 1, n_labels, len(entries)) + key + b"".join(entries)

    def bin(self, user: str, r: dict[str, Any], table: bytes) -> int:
        name = self.normal(user).encode()
        if r["bins"] == "random":
            return int.from_bytes(self.blake2b(name, 8, bytes.fromhex(r["seed"])), "big") % r["n_bins"]
        wanted = self.blake2b(name, 8, table[13:29])
        found = [table[at + 8 : at + 10] for at in range(29, len(table), 10) if table[at : at + 8] == wanted]
        return int.from_bytes(found[0], "big") if found else -1

    def counts(self, contacts: list[str], owner: str, r: dict[str, Any], table: bytes) -> list[int]:
        vector = [0] * r["n_bins"]
        for contact in {self.normal(contact) for contact in contacts} - {self.normal(owner)}:
            if self.bin(contact, r, table) >= 0:
                vector[self.bin(contact, r, table)] += 1
        return vector

    def report_bytes(self, r: dict[str, Any], user: str, noisy: list[int]) -> bytes:
        fits = [min(max(entry, -(2**31)), 2**31 - 1) for entry in noisy]
        head = b"PCRP" + struct.pack(">BI", 1, len(fits)) + self.blake2b(self.round_bytes(r), 32)
        return head + self.blake2b(self.normal(user).encode(), 16) + struct.pack(f">{len(fits)}i", *fits)


stranger = Stranger()
ROUNDS = {each["parameters"]["id"]: each["parameters"] for each in VECTORS["rounds"]}
TABLE = bytes.fromhex(VECTORS["labels"]["bytes"])


def our_round(parameters: dict[str, Any]) -> Round:
    known = {name: value for name, value in parameters.items() if name not in ("series_rounds", "series_epsilon")}
    known |= {name: bytes.fromhex(parameters[name]) for name in ("seed", "labels_digest")}
    if "series_number" in known:
        name = known["id"].removesuffix(f".{known['series_number']}")
        known["series"] = Series(name, parameters["series_rounds"], parameters["series_epsilon"])
    return Round(**known)


def our_labels(round: Round) -> LabelTable | None:
    return LabelTable.from_bytes(TABLE, round.labels_digest) if round.bins == "labels" else None


@pytest.mark.parametrize("vector", VECTORS["users"], ids=lambda vector: ascii(vector["written"]))
def test_user_ids(vector: dict[str, str]) -> None:
    assert normalise_user_id(vector["written"]) == stranger.normal(vector["written"]) == vector["normal"]
    assert user_digest(vector["written"]).hex() == vector["digest"]
    assert stranger.blake2b(vector["normal"].encode(), 16).hex() == vector["digest"]


def test_white_space_is_what_the_document_lists() -> None:
    ours = set(map(ord, re.findall(r"\s", "".join(map(chr, range(sys.maxunicode + 1))))))
    assert ours == stranger.WHITE
    listed = re.search(r"White space is ([^:]*?)\.\n", DOCUMENT.replace("\n   ", " "))
    assert listed is not None
    named = set()
    for first, last in re.findall(r"U\+([0-9A-F]{4})(?:-U\+([0-9A-F]{4}))?", listed[1]):
        named |= set(range(int(first, 16), int(last or first, 16) + 1))
    assert named == ours


@pytest.mark.parametrize("vector", VECTORS["rounds"], ids=lambda vector: vector["parameters"]["id"])
def test_rounds(vector: dict[str, Any]) -> None:
    expected = bytes.fromhex(vector["bytes"])
    ours = our_round(vector["parameters"])
    assert ours.to_bytes() == stranger.round_bytes(vector["parameters"]) == expected
    assert ours.digest() == stranger.blake2b(expected, 32) == bytes.fromhex(vector["digest"])
    assert Round.from_bytes(expected, ours.digest()) == ours


def test_label_table() -> None:
    vector = VECTORS["labels"]
    key, n_labels = bytes.fromhex(vector["key"]), vector["n_labels"]
    ours = LabelTable.from_labels(vector["labels"], n_labels, key=key)
    assert ours.to_bytes() == stranger.labels_bytes(key, n_labels, vector["labels"]) == TABLE
    assert ours.digest() == stranger.blake2b(TABLE, 32) == bytes.fromhex(vector["digest"])


@pytest.mark.parametrize("vector", VECTORS["bins"], ids=lambda vector: f"{vector['round']}-{vector['user']}")
def test_bins(vector: dict[str, Any]) -> None:
    round = our_round(ROUNDS[vector["round"]])
    assert assign_round_bins([vector["user"]], round, our_labels(round)).tolist() == [vector["bin"]]
    assert stranger.bin(vector["user"], ROUNDS[vector["round"]], TABLE) == vector["bin"]


@pytest.mark.parametrize("vector", VECTORS["degree_vectors"], ids=lambda vector: vector["round"])
def test_degree_vectors(vector: dict[str, Any]) -> None:
    round = our_round(ROUNDS[vector["round"]])
    ours = degree_vector(vector["contacts"], round, our_labels(round), owner=vector["owner"])
    assert ours == stranger.counts(vector["contacts"], vector["owner"], ROUNDS[vector["round"]], TABLE) == vector["counts"]


@pytest.mark.parametrize("vector", VECTORS["reports"], ids=lambda vector: f"{vector['round']}-{vector['user']}")
def test_reports(vector: dict[str, Any]) -> None:
    expected = bytes.fromhex(vector["bytes"])
    ours = Report.bind(our_round(ROUNDS[vector["round"]]), vector["user"], vector["noisy"])
    assert ours.to_bytes() == expected
    assert stranger.report_bytes(ROUNDS[vector["round"]], vector["user"], vector["noisy"]) == expected
    assert len(expected) == 57 + 4 * len(vector["noisy"])


def test_the_law_of_the_noise() -> None:
    a = math.exp(-0.5)
    assert [row["noise"] for row in VECTORS["noise"]] == [0, 1, 2, 3, 10]
    for row in VECTORS["noise"]:
        assert f"{(1 - a) / (1 + a) * a ** row['noise']:.9f}" == row["probability"]


def shown(value: object) -> str:
    """A value as a table shows it: text and lists of text as JSON, so that blanks can be seen."""
    if isinstance(value, list) and value and isinstance(value[0], int):
        return " ".join(map(str, value))
    return json.dumps(value) if isinstance(value, list) else str(value)


def expected_tables() -> dict[str, list[list[str]]]:
    """Every table of the section on test vectors, as vectors.json has it."""
    tables = {
        "Users": [[json.dumps(row["written"]), json.dumps(row["normal"]), row["digest"]] for row in VECTORS["users"]],
        "Bins": [[row["round"], row["user"], str(row["bin"])] for row in VECTORS["bins"]],
        "Degree vectors": [
            [row["round"], row["owner"], json.dumps(row["contacts"]), shown(row["counts"])] for row in VECTORS["degree_vectors"]
        ],
        "Reports": [[row["round"], row["user"], shown(row["noisy"]), row["bytes"]] for row in VECTORS["reports"]],
        "Noise": [[str(row["noise"]), row["probability"]] for row in VECTORS["noise"]],
    }
    for row in VECTORS["rounds"]:
        facts = {**row["parameters"], "bytes": row["bytes"], "digest": row["digest"]}
        tables[f"Round {row['parameters']['id']}"] = [[name, shown(value)] for name, value in facts.items()]
    labels = VECTORS["labels"]
    groups = [[user, str(label)] for user, label in labels["labels"].items()]
    tables["Label table"] = [*groups, *([name, shown(labels[name])] for name in ("key", "n_labels", "bytes", "digest"))]
    return tables


def written_tables() -> dict[str, list[list[str]]]:
    """The first table below each heading of the document."""
    tables: dict[str, list[list[str]]] = {}
    for section in re.split(r"^#+ ", DOCUMENT, flags=re.MULTILINE)[1:]:
        heading, _, text = section.partition("\n")
        rows = [line for line in text.splitlines() if line.startswith("|")]
        tables[heading.strip()] = [[cell.strip().strip("`") for cell in row.strip("|").split("|")] for row in rows[2:]]
    return tables


@pytest.mark.parametrize("heading", expected_tables())
def test_the_document_shows_the_same_vectors(heading: str) -> None:
    assert written_tables()[heading] == expected_tables()[heading]


def test_the_document_states_every_limit_that_the_code_has() -> None:
    from privact.protocol.round import LAST_SECOND, MAX_BINS, MAX_USERS, MIN_EPSILON

    for limit in (str(MAX_BINS), str(MAX_USERS), str(LAST_SECOND), f"{MIN_EPSILON:g}".replace("e-06", "e-6")):
        assert limit in DOCUMENT, limit
