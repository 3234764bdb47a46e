"""Promise 16. A device answers only rounds that everybody is shown: signed, and in a log that only grows.

An aggregator that has shown a signed log once cannot go back: a round outside the log, a rewritten or shortened log, another key
and no log at all each stop the device before anything is spent or sent.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from pretend_aggregator import ROUND, SECRET_KEY, Device
from privact.errors import ProtocolError, RefusedError
from privact.protocol.addresses import aggregator_address
from privact.protocol.round_log import LogEntry, RoundLog
from privact.protocol.signing import new_signing_key, public_key_of

CONTACTS = ["bob@a.example"]


@pytest.fixture
def trusted(server, device) -> Device:
    """A device that answered the first round of an aggregator with a log of three."""
    server.announce()
    server.keep_log()
    for name in ("summer", "autumn"):
        server.announce(id=name)
    assert [outcome.outcome for outcome in device.answer(CONTACTS, only="spring")[1]] == ["accepted"]
    return device


def log_of(*rounds, secret: bytes = SECRET_KEY) -> RoundLog:
    """A log of these rounds, properly signed."""
    log = RoundLog(public_key_of(secret))
    for round in rounds:
        log = log.append(round, secret)
    return log


def stopped(device: Device, reason: str) -> None:
    """Whatever is asked, the device refuses with the reason; nothing is spent and nothing is sent."""
    before, sent = device.ledger.read().spent, len(device.server.sent)
    with pytest.raises((RefusedError, ProtocolError), match=reason) as refused:
        device.answer(CONTACTS)
    assert "\n" not in str(refused.value)
    assert (device.ledger.read().spent, len(device.server.sent)) == (before, sent)


def test_rounds_in_the_log_are_answered(trusted, server) -> None:
    assert {outcome.outcome for outcome in trusted.answer(CONTACTS)[1]} == {"accepted"}
    assert trusted.account.log.read().head == server.log.head


def test_a_round_that_is_not_in_the_log_is_refused(trusted, server) -> None:
    server.rounds["secret"] = replace(ROUND, id="secret", seed=b"only for ada    ")
    server.rounds["summer"] = replace(server.rounds["summer"], epsilon=1.5)  # another than everybody sees
    found = {proposal.notice.id: proposal.refusal for proposal in trusted.answer(CONTACTS)[0]}
    assert all("is not in the log of rounds" in found[name] for name in ("secret", "summer"))
    assert set(server.reports) == {"spring", "autumn"}


def test_a_rewritten_log_is_refused(trusted, server) -> None:
    spring, summer, autumn = server.rounds.values()
    for rewritten in (log_of(spring, autumn, summer), log_of(spring), log_of(), log_of(spring, summer)):
        server.log = rewritten
        stopped(trusted, "does not continue from the head")
    server.log = log_of(spring, summer, autumn, replace(ROUND, id="winter", seed=b"w" * 16))
    assert {outcome.outcome for outcome in trusted.answer(CONTACTS)[1]} == {"accepted"}


def test_another_key_and_no_log_are_refused_for_ever(trusted, server) -> None:
    log = server.log
    server.log = log_of(*server.rounds.values(), secret=new_signing_key())
    stopped(trusted, "signs rounds with the key")
    server.log = None
    stopped(trusted, "showed a signed log of rounds and shows none now")
    server.log = log
    assert {outcome.outcome for outcome in trusted.answer(CONTACTS)[1]} == {"accepted"}


def test_a_forged_signature_is_refused(trusted, server) -> None:
    *entries, last = server.log.entries
    server.log = RoundLog(server.log.public_key, (*entries, LogEntry(last.parameters, bytes(64))))
    stopped(trusted, "entry 3 of the log of rounds is not signed with its key")


def test_an_aggregator_that_never_had_a_log_is_answered_as_before(server, device) -> None:
    server.announce()
    assert [outcome.outcome for outcome in device.answer(CONTACTS)[1]] == ["accepted"]
    assert device.account.log.read() is None


def test_the_log_is_asked_for_without_saying_who_asks(trusted, server) -> None:
    asked = [dict(headers) for path, headers in zip(server.asked, server.headers, strict=True) if path == "GET /v1/log"]
    assert asked
    assert not any("authorization" in headers for headers in asked)


def test_a_moved_aggregator_must_continue_the_log(trusted, server) -> None:
    moved = trusted.home.move(trusted.account, aggregator_address("https://new.example"))
    trusted.account, trusted.address = moved, moved.address
    server.log = log_of(server.rounds["autumn"])
    stopped(trusted, "does not continue from the head")
