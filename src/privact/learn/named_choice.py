"""A choice that callers make by name, such as a profile or a search, and whose code is imported when it is chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from privact.errors import InputError

__all__ = ["NamedChoice", "describe_choices", "find_choice", "list_choices"]

T = TypeVar("T")


@dataclass(frozen=True)
class NamedChoice(Generic[T]):
    """One of several choices.

    name: as callers and tree files give it. description: one phrase for help texts.
    load: imports and returns what was chosen, so that listing the choices stays cheap.
    """

    name: str
    description: str
    load: Callable[[], T]


def list_choices(choices: Iterable[NamedChoice[T]]) -> dict[str, NamedChoice[T]]:
    """The choices by name, in their order."""
    return {choice.name: choice for choice in choices}


def describe_choices(choices: dict[str, NamedChoice[T]]) -> str:
    """All choices and what they mean, for help texts."""
    return "; ".join(f"{choice.name}, {choice.description}" for choice in choices.values())


def find_choice(kind: str, name: str, choices: dict[str, NamedChoice[T]]) -> T:
    """What was chosen by name, or InputError. kind: what is chosen, for the message."""
    if name not in choices:
        raise InputError(f"{kind} {name!r} is unknown: use one of {', '.join(choices)}")
    return choices[name].load()
