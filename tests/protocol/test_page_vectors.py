"""The device in the browser is the Python device: the same vectors, and thousands of random inputs through both."""

from __future__ import annotations

import json
import random
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from privact.device.degrees import degree_vector
from privact.errors import InputError, ProtocolError
from privact.protocol.addresses import aggregator_address
from privact.protocol.labels import LabelTable
from privact.protocol.report import Report
from privact.protocol.round import LAST_SECOND, MAX_BINS, MAX_USERS, Round
from privact.protocol.round_log import RoundLog
from privact.protocol.round_series import Series
from privact.protocol.signing import new_signing_key, public_key_of
from privact.protocol.users import normalise_user_id, user_digest

VECTORS: dict[str, Any] = json.loads((Path(__file__).parent / "vectors.json").read_text(encoding="utf-8"))
CASES = 3000
ALPHABETS = (
    "abcXYZ019._-@ ",
    "@@  \t\u00a0\u3000\u0085\u001c\ufeffaB",
    "ßẞİıſKÅΣσςᾳᾼǰŉﬃᏸꭰ\u0345\u0301\u0307\u0323éÉ",
    "".join(chr(code) for code in range(0x0370, 0x0590) if unicodedata.category(chr(code)) != "Cn"),
    "가각힣가漢字😀𐐀𐐨𞤀",
)

NORMALISE = """(ids) => ids.map((id) => {
    try { return [core.users.normaliseUserId(id), core.bytes.toHex(core.users.userDigest(id))]; } catch { return null; }
})"""
READ_ROUNDS = """(encoded) => encoded.map((each) => {
    try {
        const round = core.round.parseRound(core.bytes.fromHex(each));
        const { id, epsilon, epsilonReport, nBins, nUsers, bins, opens, closes, joinerSeconds } = round;
        const hex = { seed: core.bytes.toHex(round.seed), labels: core.bytes.toHex(round.labelsDigest) };
        const again = core.bytes.toHex(core.round.encodeRound(round));
        const digest = core.bytes.toHex(round.digest);
        const series = round.series && [round.series.name, round.series.number, round.series.rounds, round.series.epsilon];
        return { series, id, epsilon, epsilonReport, nBins, nUsers, bins, opens, closes, joinerSeconds, ...hex, again, digest };
    } catch (error) { return error.constructor.name; }
})"""
COUNT = """(cases) => cases.map(({ round, table, contacts, owner }) => {
    const parsed = core.round.parseRound(core.bytes.fromHex(round));
    const labels = table && core.labels.parseLabels(core.bytes.fromHex(table), parsed.labelsDigest);
    return core.degrees.degreeVector(contacts, parsed, owner, labels);
})"""
BIN = """({ round, table, users }) => {
    const parsed = core.round.parseRound(core.bytes.fromHex(round));
    const labels = table && core.labels.parseLabels(core.bytes.fromHex(table), parsed.labelsDigest);
    return users.map((user) => core.bins.binOf(user, parsed, labels));
}"""
ENCODE = """(cases) => cases.map(({ round, user, noisy }) => {
    const parsed = core.round.parseRound(core.bytes.fromHex(round));
    const bytes = core.report.encodeReport(parsed, user, noisy.map(BigInt));
    return [core.bytes.toHex(bytes), core.report.readReport(bytes, parsed, user)];
})"""


def ours(written: str) -> list[str] | None:
    try:
        return [normalise_user_id(written), user_digest(written).hex()]
    except InputError:
        return None


def random_id(rng: random.Random) -> str:
    letters = rng.choice(ALPHABETS)
    return "".join(rng.choice(letters) for _ in range(rng.randrange(12)))


def random_round(rng: random.Random, labels: LabelTable | None = None) -> Round:
    n_users = rng.choice([rng.randrange(1, 50), rng.randrange(1, MAX_USERS), MAX_USERS])
    opens = rng.randrange(LAST_SECOND)
    closes = rng.randrange(opens + 1, LAST_SECOND + 1)
    source: dict[str, Any] = {
        "seed": rng.randbytes(rng.randrange(16, 33)),
        "n_bins": rng.randrange(1, min(n_users, MAX_BINS) + 1),
    }
    if labels is not None:
        n_users = max(n_users, labels.n_labels)
        source = {"bins": "labels", "labels_digest": labels.digest(), "n_bins": labels.n_labels}
    name = rng.choice("aZ9") + "".join(rng.choice("aZ9._-") for _ in range(rng.randrange(64)))
    epsilon = rng.choice([rng.uniform(1e-6, 3), 10 ** rng.uniform(-6, 300), 1.0])
    if rng.random() < 0.4:
        series = Series(name[:60], rng.randrange(2, 101), max(epsilon, 1e-3))
        number, epsilon = rng.randrange(1, series.rounds + 1), series.epsilon_per_round
        name, source = series.round_id(number), source | {"series": series, "series_number": number}
    return Round(
        id=name, epsilon=epsilon,
        n_users=n_users, opens=opens, closes=closes, joiner_seconds=rng.randrange(LAST_SECOND - closes + 1), **source,
    )  # fmt: skip


def test_user_ids_of_the_vectors(page_device: Any) -> None:
    found = page_device.call(NORMALISE, [row["written"] for row in VECTORS["users"]])
    assert found == [[row["normal"], row["digest"]] for row in VECTORS["users"]]


def test_every_assigned_character_folds_alike(page_device: Any) -> None:
    assigned = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) not in ("Cn", "Cs")]
    between = "\uffff"  # never assigned
    folded = page_device.call("(text) => Array.from(text, core.users.casefold).join('\uffff')", "".join(assigned))
    assert [letter.casefold() for letter in assigned] == folded.split(between)
    written = between.join(f"a{letter}b" for letter in assigned)
    normal = page_device.call("(ids) => ids.split('\uffff').map(core.users.normaliseUserId).join('\uffff')", written)
    assert [normalise_user_id(each) for each in written.split(between)] == normal.split(between)


def test_thousands_of_random_ids_have_one_normal_form_and_digest(page_device: Any) -> None:
    rng = random.Random(1)
    written = [random_id(rng) for _ in range(CASES)]
    expected = [ours(each) for each in written]
    assert 100 < expected.count(None) < CASES / 2  # empty ones are among them
    assert page_device.call(NORMALISE, written) == expected


def test_lone_surrogates_are_no_ids(page_device: Any) -> None:
    refused = """() => ["a\\ud800", "\\udc00b", "\\udc00\\ud800"].map((id) => {
        try { return core.users.normaliseUserId(id); } catch { return null; }
    })"""
    assert page_device.call(refused) == [None] * 3


def test_rounds_of_the_vectors(page_device: Any) -> None:
    for row, found in zip(
        VECTORS["rounds"], page_device.call(READ_ROUNDS, [row["bytes"] for row in VECTORS["rounds"]]), strict=True
    ):
        told = row["parameters"]
        assert (found["again"], found["digest"]) == (row["bytes"], row["digest"])
        ours = Round.from_bytes(bytes.fromhex(row["bytes"]))
        series = ours.series and [ours.series.name, ours.series_number, ours.series.rounds, ours.series.epsilon]
        assert found["series"] == series
        assert found["epsilonReport"] == told["epsilon"] / 2
        assert [found[name] for name in ("id", "epsilon", "nBins", "nUsers", "bins", "seed", "labels")] == [
            told[name] for name in ("id", "epsilon", "n_bins", "n_users", "bins", "seed", "labels_digest")
        ]
        assert [found[name] for name in ("opens", "closes", "joinerSeconds")] == [
            told[name] for name in ("opens", "closes", "joiner_seconds")
        ]


def test_thousands_of_random_rounds_are_read_alike(page_device: Any) -> None:
    rng = random.Random(2)
    rounds = [random_round(rng) for _ in range(CASES)]
    found = page_device.call(READ_ROUNDS, [round.to_bytes().hex() for round in rounds])
    for round, read in zip(rounds, found, strict=True):
        assert read["again"] == round.to_bytes().hex()
        assert read["digest"] == round.digest().hex()
        told = (read["id"], float(read["epsilon"]), float(read["epsilonReport"]), read["nBins"], read["nUsers"])
        assert told == (round.id, round.epsilon, round.epsilon_report, round.n_bins, round.n_users)
        assert (read["opens"], read["closes"], read["joinerSeconds"]) == (round.opens, round.closes, round.joiner_seconds)


def test_damaged_rounds_are_refused_alike(page_device: Any) -> None:
    """Flipped, missing and added bytes: whatever Python refuses the page refuses, and nothing else."""
    rng = random.Random(3)
    damaged = []
    for _ in range(CASES):
        data = bytearray(random_round(rng).to_bytes())
        place = rng.randrange(len(data))
        how = rng.randrange(4)
        if how == 0:
            data[place] ^= 1 << rng.randrange(8)
        elif how == 1:
            del data[place]
        elif how == 2:
            data.insert(place, rng.randrange(256))
        else:
            data = data[:place]
        damaged.append(bytes(data))
    refused = 0
    for data, read in zip(damaged, page_device.call(READ_ROUNDS, [data.hex() for data in damaged]), strict=True):
        try:
            Round.from_bytes(data)
        except ProtocolError:
            refused += 1
            assert read == "ProtocolError", data.hex()
        else:
            assert read["again"] == data.hex()
    assert refused > CASES / 2


def test_bins_of_the_vectors(page_device: Any) -> None:
    encoded = {row["parameters"]["id"]: row["bytes"] for row in VECTORS["rounds"]}
    for row in VECTORS["bins"]:
        table = VECTORS["labels"]["bytes"] if row["round"] == "servers.1" else None
        found = page_device.call(BIN, {"round": encoded[row["round"]], "table": table, "users": [row["user"]]})
        assert found == [row["bin"]]


def test_degree_vectors_of_the_vectors_and_of_random_contacts(page_device: Any) -> None:
    encoded = {row["parameters"]["id"]: row["bytes"] for row in VECTORS["rounds"]}
    for row in VECTORS["degree_vectors"]:
        table = VECTORS["labels"]["bytes"] if row["round"] == "servers.1" else None
        case = {"round": encoded[row["round"]], "table": table, "contacts": row["contacts"], "owner": row["owner"]}
        assert page_device.call(COUNT, [case]) == [row["counts"]]
    rng = random.Random(4)
    cases, expected = [], []
    for _ in range(200):
        contacts = [each for each in (random_id(rng) for _ in range(rng.randrange(60))) if ours(each)]
        labels = None
        if rng.random() < 0.5:
            known = {normalise_user_id(each) for each in contacts if rng.random() < 0.7}
            labels = LabelTable.from_labels({each: rng.randrange(7) for each in known}, 7, key=rng.randbytes(16))
        round = random_round(rng, labels)
        if round.n_bins > 500:
            continue
        expected.append(degree_vector(contacts, round, labels, owner="owner"))
        table = None if labels is None else labels.to_bytes().hex()
        cases.append({"round": round.to_bytes().hex(), "table": table, "contacts": contacts, "owner": "owner"})
    assert len(cases) > 100
    assert page_device.call(COUNT, cases) == expected


def test_a_damaged_label_table_is_refused(page_device: Any) -> None:
    table = bytes.fromhex(VECTORS["labels"]["bytes"])
    wrong = [table[:-1], table + b"\0", b"PCLX" + table[4:], table[:29] + table[39:49] + table[29:39] + table[49:]]
    wrong += [table[:8] + b"\x02" + table[9:], table[:4] + b"\x02" + table[5:], b""]
    refused = """(tables) => tables.map((table) => {
        try { core.labels.parseLabels(core.bytes.fromHex(table)); return "taken"; } catch (e) { return e.constructor.name; }
    })"""
    assert page_device.call(refused, [each.hex() for each in wrong]) == ["ProtocolError"] * len(wrong)
    for each in wrong:
        with pytest.raises(ProtocolError):
            LabelTable.from_bytes(each)


def test_reports_of_the_vectors_and_random_ones(page_device: Any) -> None:
    encoded = {row["parameters"]["id"]: row["bytes"] for row in VECTORS["rounds"]}
    cases = [{"round": encoded[row["round"]], "user": row["user"], "noisy": row["noisy"]} for row in VECTORS["reports"]]
    assert [found for found, _ in page_device.call(ENCODE, cases)] == [row["bytes"] for row in VECTORS["reports"]]
    rng = random.Random(5)
    cases, expected = [], []
    for _ in range(300):
        round = random_round(rng)
        if round.n_bins > 300:
            continue
        noisy = [rng.randrange(-(2 ** rng.randrange(1, 40)), 2 ** rng.randrange(1, 40)) for _ in range(round.n_bins)]
        made = Report.bind(round, "Ada@é.example", noisy)
        expected.append([made.to_bytes().hex(), list(made.vector)])
        cases.append({"round": round.to_bytes().hex(), "user": "Ada@é.example", "noisy": noisy})
    assert len(cases) > 50
    assert page_device.call(ENCODE, cases) == expected


def test_keyed_hashes_of_every_length(page_device: Any) -> None:
    import hashlib

    rng = random.Random(6)
    cases = [(rng.randbytes(rng.randrange(400)), rng.randrange(1, 65), rng.randbytes(rng.randrange(65))) for _ in range(CASES)]
    hashed = page_device.call(
        """(cases) => cases.map(([data, size, key]) => core.bytes.toHex(
            core.bytes.blake2b(core.bytes.fromHex(data), size, key && core.bytes.fromHex(key))))""",
        [[data.hex(), size, key.hex()] for data, size, key in cases],
    )
    assert hashed == [hashlib.blake2b(data, digest_size=size, key=key).hexdigest() for data, size, key in cases]


@pytest.mark.parametrize(
    "url",
    ["https://Clusters.Example/", "clusters.example:443/a/", "http://127.0.0.1:8420", "http://localhost:80", "https://[::1]:8/x"],
)
def test_addresses_are_named_alike(page_device: Any, url: str) -> None:
    expected = aggregator_address(url)
    found = page_device.call("(url) => core.address.aggregatorAddress(url)", url)
    assert (found["url"], found["key"], found["loopback"]) == (expected.url, expected.key, expected.loopback)


@pytest.mark.parametrize(
    "url", ["http://clusters.example", "ftp://a.example", "https://u:p@a.example", "https://a.example/?q", ""]
)
def test_addresses_that_are_refused(page_device: Any, url: str) -> None:
    with pytest.raises(InputError):
        aggregator_address(url)
    refused = "(url) => { try { core.address.aggregatorAddress(url); return 'taken'; } catch (e) { return e.constructor.name; } }"
    assert page_device.call(refused, url) == "InputError"


def test_an_epsilon_is_taken_as_the_fraction_that_it_is(page_device: Any) -> None:
    rng = random.Random(7)
    numbers = [0.25, 0.1, 5e-7, 400.0, 1 / 3, 5e299, *(10 ** rng.uniform(-6.5, 3) for _ in range(1000))]
    found = page_device.call("(numbers) => numbers.map((n) => core.noise.exactFraction(n).map(String))", numbers)
    assert [tuple(map(int, pair)) for pair in found] == [number.as_integer_ratio() for number in numbers]


def test_small_numbers_are_equally_likely(page_device: Any) -> None:
    """Six sides, 60,000 throws: a chi-square of 5 degrees of freedom exceeds 38 once in 2.6 million runs."""
    thrown = page_device.call("() => Array.from({ length: 60000 }, () => Number(core.noise.uniformBelow(6n)))")
    counts = [thrown.count(side) for side in range(6)]
    assert sum(counts) == 60_000
    assert sum((count - 10_000) ** 2 / 10_000 for count in counts) < 38


def test_no_two_reports_share_their_noise(page_device: Any) -> None:
    draw = "() => core.noise.randomize(Array(64).fill(0), 0.5).map(Number)"
    streams = {tuple(page_device.call(draw)) for _ in range(50)}
    assert len(streams) == 50


READ_LOG = """async (encoded) => {
    const found = [];
    for (const each of encoded) {
        try {
            const { key, rounds, links } = await core.round_log.parseLog(core.bytes.fromHex(each));
            found.push([key, rounds.map(core.bytes.toHex), links]);
        } catch (error) { found.push(error.constructor.name); }
    }
    return found;
}"""


def a_log(n_rounds: int) -> RoundLog:
    rng, secret = random.Random(11), new_signing_key()
    log = RoundLog(public_key_of(secret))
    for _ in range(n_rounds):
        log = log.append(random_round(rng), secret)
    return log


def test_logs_of_rounds_are_read_alike(page_device: Any) -> None:
    logs = [a_log(n_rounds) for n_rounds in (0, 1, 5)]
    found = page_device.call(READ_LOG, [log.to_bytes().hex() for log in logs])
    for log, (key, rounds, links) in zip(logs, found, strict=True):
        assert key == log.public_key.hex()
        assert rounds == [entry.parameters.hex() for entry in log.entries]
        assert links == [link.hex() for link in log.links()]


def test_a_log_that_python_refuses_is_refused(page_device: Any) -> None:
    rng = random.Random(12)
    data = a_log(3).to_bytes()
    damaged = [data[:-1], data + b"\0", data[:40], b"", data[:41]]
    for _ in range(100):
        place = rng.randrange(len(data))
        damaged.append(data[:place] + bytes([data[place] ^ (1 << rng.randrange(8))]) + data[place + 1 :])
    for each, read in zip(damaged, page_device.call(READ_LOG, [each.hex() for each in damaged]), strict=True):
        with pytest.raises(ProtocolError):
            RoundLog.from_bytes(each)
        assert read == "ProtocolError", each.hex()


def test_a_log_must_continue_from_what_was_seen(page_device: Any) -> None:
    secret, rng = new_signing_key(), random.Random(13)
    rounds = [random_round(rng) for _ in range(3)]
    first = RoundLog(public_key_of(secret)).append(rounds[0], secret)
    longer, rewritten = first.append(rounds[1], secret), RoundLog(public_key_of(secret)).append(rounds[2], secret)
    accept = """async ([before, after]) => {
        const read = async (hex) => hex && core.round_log.parseLog(core.bytes.fromHex(hex));
        try {
            const kept = core.round_log.acceptLog(await read(before), null);
            return core.round_log.acceptLog(await read(after), kept)?.entries ?? null;
        } catch (error) { return error.message; }
    }"""
    seen = first.to_bytes().hex()
    assert page_device.call(accept, [seen, longer.to_bytes().hex()]) == 2
    assert page_device.call(accept, [None, seen]) == 1
    assert page_device.call(accept, [None, None]) is None
    assert "was rewritten" in page_device.call(accept, [seen, rewritten.to_bytes().hex()])
    assert "was rewritten" in page_device.call(accept, [longer.to_bytes().hex(), seen])
    assert "another key" in page_device.call(accept, [seen, a_log(1).to_bytes().hex()])
    assert "shows none now" in page_device.call(accept, [seen, None])
