"""Promise 5. 10,000 mutated rounds, in fields and in bytes: all refused, nothing spent on any of them.

Whoever changes a round has two ways. Under the digest that was announced, any other byte is refused. Announced anew with a digest
of its own, a round that was answered is refused because it changed, and one that was not is refused if a field breaks a rule.
"""

from __future__ import annotations

import hashlib
import math
import random
import struct
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from privact.device.ledger.ledger import Ledger
from privact.device.ledger.rules import Rules
from privact.errors import ProtocolError, RefusedError
from privact.protocol.report import Report
from privact.protocol.round import LAST_SECOND, MAX_USERS, Round

BYTES, FIELDS, RULES = 6000, 3000, 1000
NOW = 1_800_000_000
USER = "ada@vinyl.example"
ROUND = Round(
    id="spring", epsilon=1.0, n_bins=7, n_users=1843, seed=bytes(range(16)), opens=NOW - 100, closes=NOW + 100, joiner_seconds=50
)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger(tmp_path / "ledger.sqlite3", tmp_path / "marker.json", "clusters.example", USER)
    made.create(Rules())
    return made


def ask(ledger: Ledger, data: bytes, announced: bytes) -> str:
    """What a device does with bytes that come under an announced digest: "answered", or the kind of refusal."""
    try:
        round = Round.from_bytes(data, announced)
    except ProtocolError:
        return "malformed"
    blank = Report.bind(round, USER, [0] * round.n_bins)
    try:
        ledger.answer_once(round, now=NOW, draw_slot=lambda: 0, randomize=lambda: blank)
    except RefusedError as error:
        return "changed" if "changed after it was answered" in str(error) else "against the rules"
    return "answered"


def digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=32).digest()


def other_bytes(chance: random.Random) -> bytes:
    """The announced bytes with some flipped, cut out, put in, moved or repeated."""
    data = bytearray(ROUND.to_bytes())
    for _ in range(chance.choice([1, 1, 1, 2, 5])):
        place = chance.randrange(len(data)) if data else 0
        match chance.randrange(6):
            case 0 if data:
                data[place] ^= 1 << chance.randrange(8)
            case 1 if data:
                data[place] = chance.randrange(256)
            case 2:
                del data[place : place + chance.randint(1, 8)]
            case 3:
                data[place:place] = chance.randbytes(chance.randint(1, 8))
            case 4:
                data += data[:place]
            case _:
                chance.shuffle(data)
    return bytes(data)


def test_other_bytes_under_the_announced_digest_are_refused(ledger: Ledger) -> None:
    chance, refused = random.Random(5), Counter[str]()
    announced = ROUND.digest()
    while refused.total() < BYTES:
        data = other_bytes(chance)
        if data != ROUND.to_bytes():
            refused[ask(ledger, data, announced)] += 1
    assert set(refused) == {"malformed"}
    assert ledger.read().spent == 0
    assert ask(ledger, ROUND.to_bytes(), announced) == "answered"


def other_round(chance: random.Random) -> Round:
    """The round with other parameters that are fine in themselves."""
    return replace(
        ROUND,
        **chance.choice(
            [
                {"epsilon": chance.uniform(1e-6, 2.0)},
                {"epsilon": math.nextafter(1.0, 2.0)},
                {"n_bins": chance.randint(1, 1843)},
                {"n_users": chance.randint(100, MAX_USERS)},
                {"seed": chance.randbytes(chance.randint(16, 32))},
                {"bins": "labels", "seed": b"", "labels_digest": chance.randbytes(32)},
                {"opens": NOW - chance.randint(0, NOW)},
                {"closes": NOW + chance.randint(1, 10**9)},
                {"joiner_seconds": chance.randint(0, LAST_SECOND - ROUND.closes)},
            ]
        ),
    )


def test_a_round_announced_anew_after_it_was_answered_is_refused(ledger: Ledger) -> None:
    assert ask(ledger, ROUND.to_bytes(), ROUND.digest()) == "answered"
    before = ledger.read()
    chance, refused = random.Random(55), Counter[str]()
    while refused.total() < FIELDS:
        other = other_round(chance)
        if other != ROUND:
            refused[ask(ledger, other.to_bytes(), other.digest())] += 1
    assert set(refused) == {"changed"}
    assert ledger.read() == before


HEAD = struct.Struct(">4sBBdIIQQQ")


def broken_bytes(chance: random.Random, number: int) -> bytes:
    """Bytes of a new round with at least one field outside its limits, whatever the others are; none of the library is asked."""
    fields: dict[str, object] = {
        "magic": b"PCRD", "version": 1, "kind": 0, "epsilon": 1.0, "n_bins": 7, "n_users": 1843,
        "opens": NOW - 100, "closes": NOW + 100, "joiner_seconds": 0, "id": b"new-%d" % number, "seed": chance.randbytes(16),
    }  # fmt: skip
    wrong = {
        "magic": [b"PCRP", b"pcrd", bytes(4)],
        "version": [0, 2, 255],
        "kind": [1, 2, 255],
        "epsilon": [0.0, -0.0, -1.0, math.nan, math.inf, -math.inf, 1e-7, math.nextafter(2.0, 3.0), 3.0, 1e300],
        "n_bins": [0, 1844, 2**16 + 1, 2**32 - 1],
        "n_users": [0, 1, 99, 2**31, 2**32 - 1],
        "opens": [NOW + 1, NOW + 99, NOW + 100, 2**63, 2**64 - 1],
        "closes": [0, NOW - 100, NOW - 99, NOW, LAST_SECOND + 1, 2**64 - 1],
        "joiner_seconds": [LAST_SECOND, 2**64 - 1],
        "id": [b"", b"two words", b"../up", b"x" * 65, b"new\n", "né".encode("latin-1"), b"-a", bytes(3)],
        "seed": [b"", bytes(15), bytes(33), bytes(255)],
    }
    for name in chance.sample(list(wrong), chance.choice([1, 1, 2, 3])):
        fields[name] = chance.choice(wrong[name])
    head = list(fields.values())[: -len(("id", "seed"))]
    tail = [bytes([len(text)]) + text for text in (fields["id"], fields["seed"])]
    return HEAD.pack(*head) + b"".join(tail)


def test_a_new_round_with_a_field_outside_its_limits_is_refused_though_its_digest_is_right(ledger: Ledger) -> None:
    chance, refused = random.Random(555), Counter[str]()
    for number in range(RULES):
        data = broken_bytes(chance, number)
        refused[ask(ledger, data, digest(data))] += 1
    assert set(refused) == {"malformed", "against the rules"}
    assert min(refused.values()) > 50
    assert ledger.read().spent == 0


def test_ten_thousand_rounds_were_tried() -> None:
    assert BYTES + FIELDS + RULES == 10_000
