"""What privact device says: budgets, what a round would cost, and what became of it."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

from privact.cli.device.spelling import spell_command
from privact.cli.text import columns, facts, number, paragraph, print_json, shown, table
from privact.cli.times import write_time
from privact.errors import InputError, PrivaCTError

if TYPE_CHECKING:
    from privact.device.answer import Outcome, Proposal
    from privact.device.contacts.contact_list import Contacts
    from privact.device.ledger.book import Book
    from privact.device.ledger.home import Account
    from privact.protocol.round import Round
    from privact.protocol.round_series import Series

__all__ = [
    "budget_of",
    "budget_rows",
    "choose_rounds",
    "finish",
    "patient_sleep",
    "print_answers",
    "require_terminal",
    "say_contacts",
    "say_plan",
]


_MOST_SHOWN = 40
_MOST_SKIPPED = 5


def budget_of(book: Book) -> dict[str, Any]:
    """The budget of a ledger, for JSON."""
    return {
        "budget": book.rules.budget,
        "spent": float(book.spent),
        "left": float(book.left),
        "cap": book.rules.cap,
        "minimum_users": book.rules.minimum_users,
        "rounds_answered": len(book.everywhere),
    }


def budget_rows(book: Book) -> list[tuple[str, object]]:
    """The budget of a ledger, in words."""
    from privact.device.ledger.rules import format_epsilon

    count = len(book.everywhere)
    rounds = "1 round" if count == 1 else f"{number(count)} rounds"
    return [
        ("spent", f"epsilon {format_epsilon(book.spent)} of {format_epsilon(book.rules.budget)} per contact, for {rounds}"),
        ("left", f"epsilon {format_epsilon(book.left)} for the rest of this ledger's life; no time renews it"),
        (
            "limits",
            f"epsilon at most {format_epsilon(book.rules.cap)} in a round of at least {number(book.rules.minimum_users)} users",
        ),
    ]


def print_answers(book: Book, rows: Sequence[dict[str, Any]]) -> None:
    """The answered rounds as a table."""
    print()
    if not rows:
        print("No round was answered yet.")
    else:
        lines = [[row["round"], f"{row['epsilon']:g}", write_time(row["made"]), row["outcome"]] for row in rows]
        table(["round", "epsilon", "answered", "aggregator said"], lines, right=[1])
    if book.lost:
        print(f"\nAnswered from a ledger that was lost: {', '.join(map(shown, sorted(book.lost)))}")


def say_plan(account: Account, proposals: Sequence[Proposal]) -> None:
    """What would be answered, what it costs and what it promises: said before anything is spent."""
    from privact.device.ledger.rules import amount, format_epsilon

    left = account.ledger.read().left
    facts([("user", f"{account.user} at {account.address.url}")])
    for proposal in proposals:
        print()
        if proposal.refusal or proposal.round is None:
            paragraph(f"Round {shown(proposal.notice.id)}: refused. {shown(spell_command(proposal.refusal))}")
        elif proposal.done:
            paragraph(f"Round {proposal.notice.id}: answered before, and the aggregator has the answer.")
        elif not proposal.cost:
            paragraph(
                f"Round {proposal.notice.id}: randomized before. The stored bytes are sent again, which costs nothing more."
            )
        else:
            after = left - amount(proposal.cost)
            joins = ", placed in the released tree as one who joins late" if proposal.late else ""
            paragraph(
                f"Round {proposal.notice.id}{_say_series(proposal)}: costs epsilon {format_epsilon(proposal.cost)} per contact "
                f"of the {format_epsilon(left)} left, so {format_epsilon(after)} will be left{joins}. "
                f"{_say_promise(proposal.round)}"
            )
            left = after
    if not proposals:
        print("\nNo round is open for you now.")
    sys.stdout.flush()


def say_contacts(contacts: Contacts, named: bool) -> None:
    """Whom this device counts, and what was skipped: shown before anything is sent.

    named: also name them, as to a person who decides; a log of a timer should not hold contacts.
    """
    print()
    facts([("contacts", contacts.in_words())])
    if not named:
        sys.stdout.flush()
        return
    columns(contacts.ids[:_MOST_SHOWN])
    if len(contacts.ids) > _MOST_SHOWN:
        print(f"and {number(len(contacts.ids) - _MOST_SHOWN)} more")
    for entry in contacts.skipped[:_MOST_SKIPPED]:
        print(f"skipped {shown(entry.place)}: {shown(entry.reason)}")
    if len(contacts.skipped) > _MOST_SKIPPED:
        print(f"skipped {number(len(contacts.skipped) - _MOST_SKIPPED)} more")
    sys.stdout.flush()


def _say_series(proposal: Proposal) -> str:
    """Of which series a round is, and whether that was agreed on."""
    round = proposal.round
    if round is None or round.series is None:
        return ""
    agreed = ", as agreed before" if proposal.agreed else ""
    return f", number {round.series_number} of {_name_series(round.series)}{agreed}"


def _name_series(series: Series) -> str:
    from privact.device.ledger.rules import format_epsilon

    each, total = format_epsilon(series.epsilon_per_round), format_epsilon(series.epsilon)
    return f"a series of {series.rounds} rounds, epsilon {each} each, {total} in all"


def _say_promise(round: Round) -> str:
    """What a round promises; of a series what all its rounds together promise."""
    from privact.protocol.promise import meaning_sentence, privacy_sentence

    if round.series is None:
        return f"{meaning_sentence(round.epsilon)} {round.privacy_sentence()}"
    told = privacy_sentence(round.series.epsilon, round.series.name, round.series.rounds)
    return f"{meaning_sentence(round.series.epsilon)} {told}"


def require_terminal() -> None:
    """Refuse to send anything where no person can be asked and none has decided with --yes."""
    if not _has_terminal():
        raise InputError("no person sits at this terminal to be asked, so nothing is sent: add --yes, or look with --dry-run")


def choose_rounds(proposals: Sequence[Proposal]) -> list[Proposal]:
    """Ask the person at the terminal for each round that costs something; the others cost nothing, or were agreed on with
    their series, and stay.

    What is not answered with yes is left out, and without a terminal everything that would have to be asked.
    """
    from privact.device.ledger.rules import amount, format_epsilon

    costly = [proposal for proposal in proposals if proposal.must_ask]
    if not costly:
        return list(proposals)
    if not _has_terminal():
        left_out = ", ".join(shown(proposal.notice.id) for proposal in costly)
        print(f"Left out, since no person sits here to agree to them: {left_out}. Add --yes to answer them.", file=sys.stderr)
        return [proposal for proposal in proposals if not proposal.must_ask]
    total = sum((amount(proposal.cost) for proposal in costly), start=amount(0.0))
    rounds = "1 round costs" if len(costly) == 1 else f"{len(costly)} rounds together cost"
    print(f"\n{rounds} epsilon {format_epsilon(total)} per contact. What is spent cannot be taken back.", file=sys.stderr)
    chosen, spent = [], amount(0.0)
    for proposal in proposals:
        if proposal.must_ask:
            after = format_epsilon(spent + amount(proposal.cost))
            question = f"Answer round {proposal.notice.id} for epsilon {format_epsilon(proposal.cost)}, {after} in all? [y/N] "
            if proposal.round is not None and proposal.round.series is not None:
                named = _name_series(proposal.round.series)
                question = f"Agree to {named}, and answer round {proposal.notice.id} now? Later rounds do not ask. [y/N] "
            print(question, end="", file=sys.stderr, flush=True)
            if sys.stdin.readline().strip().casefold() not in ("y", "yes"):
                continue
            spent += amount(proposal.cost)
        chosen.append(proposal)
    if not spent:
        print("Nothing was spent.", file=sys.stderr)
    if not chosen:
        raise typer.Exit(1)
    return chosen


def _has_terminal() -> bool:
    """Whether a person sits at a terminal and can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def patient_sleep(seconds: float) -> None:
    """Wait for a slot, and say so if a person would wonder."""
    if seconds > 2:
        print(
            f"The report is stored and leaves in {seconds:,.0f} s, a time drawn by chance so that it tells nothing. "
            "Ctrl-C is safe: running the command again sends the same bytes.",
            file=sys.stderr,
            flush=True,
        )
    time.sleep(seconds)


def finish(account: Account, contacts: Contacts, proposals: Sequence[Proposal], outcomes: Sequence[Outcome], json: bool) -> None:
    """Say what became of each round; a report that could not be delivered is a failure, a refusal of this device is not."""
    from dataclasses import asdict

    book = account.ledger.read()
    if json:
        print_json(
            {
                "url": account.address.url,
                "user": account.user,
                "contacts": len(contacts.ids),
                "dropped": {
                    "duplicates": contacts.duplicates, "oneself": contacts.oneself, "without_id": contacts.without_id,
                },
                "skipped": [vars(entry) for entry in contacts.skipped],
                "rounds": [_document(proposal) for proposal in proposals],
                "outcomes": [asdict(outcome) for outcome in outcomes],
                **budget_of(book),
            }
        )  # fmt: skip
    elif outcomes:
        from privact.device.ledger.rules import format_epsilon

        print()
        for outcome in outcomes:
            said = f" {shown(spell_command(outcome.reason))}" if outcome.reason else ""
            late = ", joined late" if outcome.late else ""
            paragraph(f"Round {outcome.round_id}: {outcome.outcome}{late}.{said}")
        print(f"Left: epsilon {format_epsilon(book.left)} of {format_epsilon(book.rules.budget)}.")
        if any(_goes_on(proposal.round) for proposal in proposals if proposal.round is not None):
            paragraph("More rounds of this series follow: privact device watch --contacts FILE answers them by itself.")
    failed = [outcome for outcome in outcomes if outcome.outcome not in ("accepted", "waiting")]
    if failed:
        sys.stdout.flush()
        raise PrivaCTError(f"{len(failed)} of {len(outcomes)} reports not accepted: {failed[0].reason}")


def _goes_on(round: Round) -> bool:
    """Whether a series has rounds after this one."""
    return round.series is not None and round.series_number < round.series.rounds


def _series_document(round: Round | None) -> dict[str, Any] | None:
    if round is None or round.series is None:
        return None
    series = round.series
    return {"name": series.name, "number": round.series_number, "rounds": series.rounds, "epsilon": series.epsilon}


def _document(proposal: Proposal) -> dict[str, Any]:
    return {
        "round": proposal.notice.id,
        "digest": proposal.notice.digest.hex(),
        "cost": proposal.cost,
        "refusal": proposal.refusal or None,
        "already_answered": proposal.done,
        "series": _series_document(proposal.round),
        "privacy": _say_promise(proposal.round) if proposal.round else None,
    }
