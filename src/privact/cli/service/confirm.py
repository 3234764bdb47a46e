"""Questions before what cannot be undone: what it decides, and what it spends of other people's epsilon."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from privact.cli.text import number, shown
from privact.errors import PrivaCTError

__all__ = ["Yes", "asks", "confirm", "describe_closing", "describe_opening", "describe_series", "describe_stopping"]

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
"""The option that answers the question before it is asked."""


def asks(yes: bool) -> bool:
    """Whether a person is there to be asked.

    yes: the option that says not to.
    """
    return not yes and sys.stdin.isatty() and sys.stderr.isatty()


def confirm(question: str) -> None:
    """Ask, and end the command unless the answer is yes."""
    if not typer.confirm(question, default=False, err=True):
        raise PrivaCTError("nothing was changed")


def describe_opening(draft: dict[str, Any], n_users: int) -> str:
    """What opening a draft asks of users.

    draft: the round as the server describes it. n_users: who is enrolled.
    """
    return (
        f"Opening {shown(draft['id'])} asks {number(n_users)} users: each device that answers spends epsilon "
        f"{draft['epsilon']:g} for each contact, for good, and the parameters are fixed from then on. Open it?"
    )


def describe_closing(round: dict[str, Any], force: bool) -> str:
    """What closing a round decides.

    round: as the server describes it. force: whether it is closed with too few reports too.
    """
    reports, users = number(round["reports"]), number(round["n_users"] or 0)
    lost = " With too few of them the round fails, and what they spent is lost." if force else ""
    return (
        f"{reports} of {users} users answered {shown(round['id'])}, and each spent epsilon {round['epsilon']:g} for each "
        f"contact. Closed now, the tree is learned from these alone; it cannot be opened again.{lost} Close it?"
    )


def describe_series(name: str, epsilon: float, rounds: int, n_users: int) -> str:
    """What beginning a series asks of users.

    name, epsilon, rounds: of the series. n_users: who is enrolled.
    """
    return (
        f"Beginning {shown(name)} asks {number(n_users)} users: each device that answers all {rounds} rounds spends epsilon "
        f"{epsilon:g} for each contact, for good. Begin it?"
    )


def describe_stopping(series: dict[str, Any], force: bool) -> str:
    """What stopping a series decides.

    series: as the server describes it. force: whether it is stopped with too few reports too.
    """
    lost = " With too few reports it fails, and what was spent is lost." if force else ""
    return (
        f"Devices that answered every round of {shown(series['name'])} spent epsilon {series['asked']:g} for each contact. "
        f"Stopped now, no further round is opened, and the tree is learned from these reports.{lost} Stop it?"
    )
