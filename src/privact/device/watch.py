"""Answering by itself: rounds of series that a person agreed to are answered when they open, all others wait for the person.

One look makes the same requests whatever the contacts are, and when it is made does not depend on them either.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from privact.client.device_client import DeviceClient
from privact.device.answer import Outcome, draw_slots, make_reports, propose, send_reports
from privact.device.ledger.home import Account
from privact.errors import AggregatorError, InputError

__all__ = ["Look", "answer_agreed", "watch"]

_FIRST_PAUSE: Final = 60.0
"""Seconds after the first failure; each further one in a row doubles them, up to the usual pause."""


@dataclass(frozen=True)
class Look:
    """What one look for rounds found.

    outcomes: what became of the rounds that were answered or sent again.
    waiting: ids of rounds that nobody has agreed to yet.
    refused: rounds that this device does not answer: their ids, and why.
    problem: why nothing could be done, in one line; empty if all is well.
    """

    outcomes: tuple[Outcome, ...] = ()
    waiting: tuple[str, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    problem: str = ""


def answer_agreed(
    account: Account,
    aggregator: DeviceClient,
    read_contacts: Callable[[], Sequence[str]],
    *,
    window: float,
    reserve: float,
    clock: Callable[[], float] = time.time,
    sleep: Callable[[float], None] = time.sleep,
) -> Look:
    """Answer the rounds that were agreed to with their series, and send stored reports that did not arrive.

    account, aggregator: who answers, and where. read_contacts: called once all other requests are made, and only if needed.
    window, reserve, clock, sleep: as for privact.device.answer.
    """
    asked = clock()
    proposals = propose(account, aggregator, reserve=reserve, clock=clock)
    waiting = tuple(each.notice.id for each in proposals if each.must_ask)
    kept_out = tuple((each.notice.id, each.refusal) for each in proposals if each.refusal)
    agreed = [each for each in proposals if not (each.must_ask or each.refusal or each.done)]
    if not agreed:
        return Look(waiting=waiting, refused=kept_out)
    drawn = draw_slots(agreed, asked=asked, window=window, reserve=reserve)
    made, refused = make_reports(account, drawn, read_contacts(), reserve=reserve, clock=clock)
    sent = send_reports(account, aggregator, made, window=window, clock=clock, sleep=sleep)
    return Look((*refused, *sent), waiting, kept_out)


def watch(look: Callable[[], Look], *, every: float, sleep: Callable[[float], None] = time.sleep) -> Iterator[Look]:
    """Look for rounds for ever: after each look wait for about `every` seconds, after failures less at first.

    look: one look, such as answer_agreed; an aggregator that cannot be reached or a file that cannot be read ends only this look.
    every: seconds between two looks; each pause is drawn from half to one and a half of it, so that devices spread out.
    """
    failures = 0
    while True:
        try:
            seen = look()
        except (AggregatorError, InputError) as error:
            seen = Look(problem=str(error))
        failures = failures + 1 if seen.problem else 0
        yield seen
        pause = min(every, _FIRST_PAUSE * 2.0 ** (failures - 1)) if failures else every
        sleep(pause * random.uniform(0.5, 1.5))
