"""The log of rounds: an encoding that is checked whole, a chain that only grows, signatures of one key."""

from __future__ import annotations

import hashlib
import struct

import pytest
from nacl.signing import SigningKey

from privact.errors import ProtocolError
from privact.protocol.round import Round
from privact.protocol.round_log import MAX_LOG_ENTRIES, RoundLog
from privact.protocol.signing import is_signed, new_signing_key, public_key_of, sign

SECRET = bytes(range(32))


def a_round(name: str, epsilon: float = 1.0) -> Round:
    return Round(id=name, epsilon=epsilon, n_bins=3, n_users=200, seed=bytes(16))


@pytest.fixture
def log() -> RoundLog:
    """A log of three rounds."""
    found = RoundLog(public_key_of(SECRET))
    for name in ("one", "two", "three"):
        found = found.append(a_round(name), SECRET)
    return found


def test_a_log_is_read_back_from_its_bytes(log):
    assert RoundLog.from_bytes(log.to_bytes()) == log
    assert RoundLog.from_bytes(RoundLog(log.public_key).to_bytes()).entries == ()


def test_the_bytes_are_those_of_the_documented_layout(log):
    """Written again with hashlib, struct and PyNaCl alone."""
    key = SigningKey(SECRET)
    link = hashlib.blake2b(b"PCLG\x01" + bytes(key.verify_key), digest_size=32).digest()
    expected = b"PCLG\x01" + bytes(key.verify_key) + struct.pack(">I", 3)
    for number, name in enumerate(("one", "two", "three"), 1):
        parameters = a_round(name).to_bytes()
        link = hashlib.blake2b(link + parameters, digest_size=32).digest()
        signature = key.sign(b"PCLH\x01" + struct.pack(">Q", number) + link).signature
        expected += struct.pack(">H", len(parameters)) + parameters + signature
    assert log.to_bytes() == expected
    assert log.head == link


def test_every_changed_byte_is_refused(log):
    data = log.to_bytes()
    for place in range(len(data)):
        changed = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
        with pytest.raises(ProtocolError) as refused:
            RoundLog.from_bytes(changed)
        assert "\n" not in str(refused.value)


def test_a_cut_or_longer_log_is_refused(log):
    data = log.to_bytes()
    for wrong in (b"", data[:40], data[:-1], data + b"x"):
        with pytest.raises(ProtocolError):
            RoundLog.from_bytes(wrong)


def test_a_log_continues_from_each_of_its_own_heads_only(log):
    heads = list(log.links())
    assert all(log.continues(place, head) for place, head in enumerate(heads))
    assert not log.continues(2, heads[3])
    assert not log.continues(4, heads[3])
    rewritten = RoundLog(log.public_key)
    for name, epsilon in (("one", 1.0), ("two", 1.5), ("three", 1.0)):
        rewritten = rewritten.append(a_round(name, epsilon), SECRET)
    assert not rewritten.continues(3, log.head)
    assert rewritten.continues(1, heads[1])


def test_a_round_is_listed_exactly_or_not_at_all(log):
    assert log.lists(a_round("two"))
    assert not log.lists(a_round("two", epsilon=1.5))
    assert not log.lists(a_round("four"))


def test_an_id_is_listed_once(log):
    with pytest.raises(ProtocolError, match="round two is in the log already"):
        log.append(a_round("two", epsilon=1.5), SECRET)
    forged = RoundLog(log.public_key, log.entries[:1])
    twice = RoundLog(log.public_key, (*forged.entries, forged.entries[0]))
    signature = sign(SECRET, b"PCLH\x01" + struct.pack(">Q", 2) + twice.head)
    entries = (forged.entries[0], type(forged.entries[0])(forged.entries[0].parameters, signature))
    with pytest.raises(ProtocolError, match="lists one twice"):
        RoundLog.from_bytes(RoundLog(log.public_key, entries).to_bytes())


def test_another_key_does_not_sign_for_this_one(log):
    other = new_signing_key()
    with pytest.raises(ProtocolError, match="entry 4 of the log of rounds is not signed with its key"):
        RoundLog.from_bytes(log.append(a_round("four"), other).to_bytes())


def test_a_log_that_claims_more_entries_than_are_read_is_refused():
    data = b"PCLG\x01" + public_key_of(SECRET) + struct.pack(">I", MAX_LOG_ENTRIES + 1)
    with pytest.raises(ProtocolError, match="the most is 10,000"):
        RoundLog.from_bytes(data)


def test_the_signature_of_rfc_8032():
    """Test 1 of RFC 8032, section 7.1: the empty message."""
    secret = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
    public = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
    signature = bytes.fromhex(
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8"
        "821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
    )
    assert public_key_of(secret) == public
    assert sign(secret, b"") == signature
    assert is_signed(public, b"", signature)
    assert not is_signed(public, b"x", signature)


def test_a_key_of_another_length_is_refused_in_one_line():
    with pytest.raises(ProtocolError, match="a signing key has 5 bytes"):
        public_key_of(b"short")
    assert not is_signed(b"short", b"", bytes(64))
