"""Answering rounds: check what is announced, say what it costs, randomize once, store, send the stored bytes in their slot.

The order keeps contacts out of what the network can see. `propose` makes every request but the reports. `draw_slots` decides
when reports leave. Only then are contacts read, and `make_reports` counts them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from privact.client.device_client import DeviceClient, Me, Notice
from privact.device.ledger.book import Book
from privact.device.ledger.entries import StoredReport
from privact.device.ledger.home import Account
from privact.device.ledger.rules import amount, check_round
from privact.device.slots import RESERVE, draw_slot, wait_for
from privact.device.upload import deliver
from privact.errors import AggregatorError, LedgerError, ProtocolError, RefusedError
from privact.protocol.labels import LabelTable
from privact.protocol.round import Round
from privact.protocol.round_log import RoundLog

__all__ = ["Outcome", "Proposal", "draw_slots", "make_reports", "propose", "send_reports"]


@dataclass(frozen=True)
class Proposal:
    """A round that might be answered.

    notice: what the aggregator announced.
    round: its parameters, or None if they are malformed.
    cost: the epsilon that answering spends; 0 if a report is stored already.
    refusal: why it is not answered; empty if it is.
    done: whether the aggregator has the stored report already.
    labels: the round's label table, if it has one and is to be answered.
    send_at: when its report is sent, UTC milliseconds; decided before contacts are read.
    agreed: whether it is a round of a series that was agreed on before, and so needs no further question.
    """

    notice: Notice
    round: Round | None
    cost: float = 0.0
    refusal: str = ""
    done: bool = False
    labels: LabelTable | None = field(default=None, repr=False)
    send_at: int = 0
    agreed: bool = False

    @property
    def must_ask(self) -> bool:
        """Whether answering costs something that nobody has agreed to yet."""
        return self.cost > 0 and not self.agreed

    @property
    def closes(self) -> int:
        """When the round closes for this user, UTC seconds."""
        return 0 if self.round is None else self.round.closes + (self.round.joiner_seconds if self.late else 0)

    @property
    def late(self) -> bool:
        """Whether the aggregator says that this user may join the released round late."""
        return self.notice.may_answer and (self.notice.late or self.notice.state == "released")


@dataclass(frozen=True)
class Outcome:
    """What became of a round: "accepted", "waiting" (stored, not sent yet), "refused", "conflict", "closed", "early" or "failed".

    round_id: the round; reason: one line unless it was accepted; cost: the epsilon that was spent on it now.
    late: whether the user joined the released tree late; attempts: how often the report was sent.
    """

    round_id: str
    outcome: str
    reason: str = ""
    cost: float = 0.0
    late: bool = False
    attempts: int = 0


def propose(
    account: Account,
    aggregator: DeviceClient,
    *,
    only: str | None = None,
    digest: bytes | None = None,
    reserve: float = RESERVE,
    clock: Callable[[], float] = time.time,
) -> list[Proposal]:
    """Which rounds would be answered, what each would cost, and why others would not be; nothing is spent.

    account, aggregator: whose rounds, and where.
    only: the id of the one round to look at; all that the aggregator takes answers to if absent.
    digest: the digest that the one round must have, as somebody else published it.
    reserve: seconds before its close in which a round is no longer answered.
    clock: gives UTC seconds.
    """
    me = aggregator.me()
    if me.user != account.user:
        raise AggregatorError(f"{aggregator.address.url} takes this device for {me.user!r}, not {account.user!r}: join again")
    log = aggregator.log()
    account.log.accept(log, aggregator.address.url)
    book = account.ledger.read()
    _refuse_unknown_answers(me, book)
    notices = [notice for notice in me.rounds if (notice.may_answer if only is None else notice.id == only)]
    if only is not None and not notices:
        raise RefusedError(f"{aggregator.address.url} announces no round {only!r} to {me.user}: see `privact device status`")
    found = [_proposal(notice, book, log, aggregator, digest, clock(), reserve) for notice in notices]
    found.sort(key=lambda each: (each.round.closes if each.round else 0, each.notice.id))  # the most urgent first
    return [_with_labels(proposal, aggregator) for proposal in _within_budget(found, book)]


def draw_slots(proposals: Iterable[Proposal], *, asked: float, window: float, reserve: float = RESERVE) -> list[Proposal]:
    """The proposals with the time at which each report is sent, drawn by chance before contacts are read.

    asked: when the person asked, UTC seconds; window: seconds after it over which reports are spread.
    reserve: seconds before the close that are kept for sending.
    """
    return [replace(each, send_at=draw_slot(asked, window, each.closes - reserve)) for each in proposals]


def make_reports(
    account: Account,
    proposals: Iterable[Proposal],
    contacts: Sequence[str],
    *,
    reserve: float = RESERVE,
    clock: Callable[[], float] = time.time,
) -> tuple[list[tuple[Proposal, StoredReport]], list[Outcome]]:
    """The one report of each proposed round, randomized now unless it is stored already; all are in the ledger on return.

    Also returns what became of rounds that must be refused after all, as when another process has spent the budget meanwhile.

    proposals: as draw_slots gave them.
    contacts: the user's contacts.
    """
    from privact.device.noise import make_report

    def answered(proposal: Proposal, round: Round) -> StoredReport:
        return account.ledger.answer_once(
            round,
            now=clock(),
            late=proposal.late,
            reserve=reserve,
            draw_slot=lambda: proposal.send_at,
            randomize=lambda: make_report(contacts, round, account.user, proposal.labels),
        )

    made, refused = [], []
    for proposal in proposals:
        if proposal.round is None or proposal.refusal or proposal.done:
            continue
        try:
            made.append((proposal, answered(proposal, proposal.round)))
        except RefusedError as error:
            refused.append(Outcome(proposal.notice.id, "refused", str(error)))
    return made, refused


def send_reports(
    account: Account,
    aggregator: DeviceClient,
    made: Iterable[tuple[Proposal, StoredReport]],
    *,
    window: float,
    clock: Callable[[], float] = time.time,
    sleep: Callable[[float], None] = time.sleep,
) -> list[Outcome]:
    """Send stored reports, each in its slot, and remember what the aggregator said.

    window: seconds; no slot is waited for longer.
    """
    outcomes = []
    for proposal, stored in sorted(made, key=lambda pair: pair[1].send_at):
        outcome = Outcome(stored.round.id, "failed", cost=proposal.cost)
        wait_for(stored.send_at, window, clock, sleep)
        try:
            said = deliver(aggregator, stored)
        except AggregatorError as error:
            outcomes.append(replace(outcome, reason=str(error)))
            continue
        account.ledger.tell_delivery(stored.round.id, said.outcome)
        known: dict[str, Any] = {"late": said.late, "attempts": said.attempts}
        outcomes.append(replace(outcome, outcome=said.outcome, reason=said.reason, **known))
    return outcomes


def _refuse_unknown_answers(me: Me, book: Book) -> None:
    """An answer that the ledger does not know was given by another device, or by a ledger that was rolled back since."""
    unknown = sorted(notice.id for notice in me.rounds if notice.answered and not book.knows(notice.id, notice.digest))
    if unknown:
        raise LedgerError(
            f"the aggregator has an answer of {me.user} to round {unknown[0]} that this ledger does not know: "
            "answer from the device that gave it, restore the newest ledger, or join again with --spent EPSILON"
        )


def _proposal(
    notice: Notice,
    book: Book,
    log: RoundLog | None,
    aggregator: DeviceClient,
    digest: bytes | None,
    now: float,
    reserve: float,
) -> Proposal:
    """One announced round, checked against everything but the budget."""
    try:
        if digest is not None and notice.digest != digest:
            raise ProtocolError(
                f"round {notice.id} has digest {notice.digest.hex()}, not the expected {digest.hex()}: not answered"
            )
        round = aggregator.round(notice)
    except ProtocolError as error:
        return Proposal(notice, None, refusal=str(error))
    proposal = Proposal(notice, round)
    try:
        if book.stored(round) is not None:
            return replace(proposal, done=notice.answered)
        if log is not None and not log.lists(round):
            raise RefusedError(
                f"round {round.id} is not in the log of rounds that {aggregator.address.url} shows to everybody: not answered"
            )
        check_round(round, book.rules, now, late=proposal.late, reserve=reserve)
        book.check_series(round)
    except RefusedError as error:
        return replace(proposal, refusal=str(error))
    if not notice.may_answer:
        why = "it opened before this user enrolled, wait for its tree" if notice.late and notice.state == "open" else notice.state
        return replace(proposal, refusal=f"the aggregator takes no answer to round {notice.id} now: {why}")
    return replace(proposal, cost=round.epsilon, agreed=round.series is not None and round.series.name in book.agreed)


def _with_labels(proposal: Proposal, aggregator: DeviceClient) -> Proposal:
    """The proposal with the whole label table of its round, fetched before anything is spent."""
    if not proposal.cost or proposal.round is None:
        return proposal
    try:
        return replace(proposal, labels=aggregator.labels(proposal.round))
    except ProtocolError as error:
        return replace(proposal, cost=0.0, refusal=str(error))


def _within_budget(proposals: Iterable[Proposal], book: Book) -> Iterable[Proposal]:
    """The proposals in order, each refused that costs more than those before it leave."""
    for proposal in proposals:
        if proposal.cost and proposal.round is not None:
            try:
                book.check_budget(proposal.round)
            except RefusedError as error:
                yield replace(proposal, cost=0.0, refusal=str(error))
                continue
            book = replace(book, spent=book.spent + amount(proposal.cost))
        yield proposal
