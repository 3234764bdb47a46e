"""Sending a stored report: the bytes of a ledger -> what the aggregator said to them."""

from __future__ import annotations

from dataclasses import dataclass

from privact.client.connection import Response
from privact.client.device_client import DeviceClient
from privact.device.ledger.entries import StoredReport

__all__ = ["Delivery", "deliver"]


@dataclass(frozen=True)
class Delivery:
    """What became of a report that was sent.

    outcome: "accepted"; "conflict" if the aggregator has other bytes from this user, of which the first count; "closed" if it
        came too late; "early" if by the aggregator's clock the round has not opened; or "refused".
    reason: why, in one line; empty if it was accepted.
    late: whether the user was placed in the released tree as one who joined late.
    attempts: how often the bytes were sent.
    """

    outcome: str
    reason: str
    late: bool
    attempts: int


def deliver(aggregator: DeviceClient, stored: StoredReport) -> Delivery:
    """Send the bytes of a stored report.

    aggregator: where to.
    stored: what the ledger keeps; the same bytes each time, of a length that depends on the number of bins alone.
    """
    name = stored.round.id
    response = aggregator.send_report(name, stored.report)
    if response.status in (200, 201):
        return Delivery("accepted", "", _late(response), response.attempts)
    said = {
        409: (
            "conflict",
            f"the aggregator has another answer of this user to round {name}, from another device: the first counts",
        ),
        410: ("closed", f"round {name} had closed when the report came: it is not counted, and stays charged since it was sent"),
        425: (
            "early",
            f"round {name} has not opened by the aggregator's clock: run this again later, the same bytes will be sent",
        ),
    }
    outcome, reason = said.get(
        response.status, ("refused", f"the aggregator refused the report for round {name}: {response.error_line()}")
    )
    return Delivery(outcome, reason, False, response.attempts)


def _late(response: Response) -> bool:
    """Whether the aggregator says that the user joined late."""
    try:
        return response.json()["late"] is True
    except (ValueError, LookupError, TypeError):
        return False
