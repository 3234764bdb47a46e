"""The same rounds for everybody: the aggregator's signed log against what this device saw and answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from privact.client.device_client import DeviceClient
from privact.device.ledger.home import Account
from privact.errors import AggregatorError, RefusedError
from privact.protocol.round_log import RoundLog

__all__ = ["VerifiedLog", "check_expected_key", "check_same_aggregator", "verify_log"]


@dataclass(frozen=True)
class VerifiedLog:
    """A log that passed every check.

    key: the operator's public key. head: the last link. rounds: how many rounds it lists.
    answered: how many of them were answered from this account.
    """

    key: bytes
    head: bytes
    rounds: int
    answered: int

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        return {"key": self.key.hex(), "head": self.head.hex(), "rounds": self.rounds, "answered": self.answered}


def verify_log(account: Account, aggregator: DeviceClient, head: bytes | None = None) -> VerifiedLog:
    """Fetch the log of rounds and check it; refused if anything is wrong with it.

    account: whose aggregator. aggregator: the connection to it.
    head: a head that somebody else saw, which must be one of this log's.
    """
    log = aggregator.log()
    account.log.accept(log, account.address.url)
    if log is None:
        raise RefusedError(
            f"{account.address.url} keeps no log of its rounds: ask the operator to update, nothing can be verified"
        )
    if head is not None and head not in log.links():
        raise RefusedError(
            f"the head {head.hex()[:16]}... is not in the log at {account.address.url}, others are shown other rounds: tell them"
        )
    answers = account.ledger.read().answers
    missing = [round_id for round_id, stored in answers.items() if not log.lists(stored.round)]
    if missing:
        raise RefusedError(
            f"round {missing[0]} was answered from here but is not in the log at {account.address.url}: others were not shown it"
        )
    return VerifiedLog(log.public_key, log.head, len(log.entries), len(answers))


def check_expected_key(log: RoundLog | None, expected: bytes | None, url: str) -> None:
    """Refuse an aggregator that does not sign with the key that a person expects.

    log: what the aggregator shows. expected: the key; None if the person expects none. url: the aggregator, for errors.
    """
    if expected is not None and (log is None or log.public_key != expected):
        found = "shows no log" if log is None else f"signs with {log.public_key.hex()}"
        raise RefusedError(f"{url} {found}, not with the expected key {expected.hex()}: not joined, ask the operator")


def check_same_aggregator(account: Account, aggregator: DeviceClient) -> None:
    """Refuse a new address that does not know the account's user, or does not continue the log that was seen at the old one."""
    if aggregator.me().user != account.user:
        raise AggregatorError(f"{aggregator.address.url} does not know {account.user}: check the address")
    account.log.accept(aggregator.log(), aggregator.address.url)
