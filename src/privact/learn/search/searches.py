"""Every search by name. To add one: write a module with a search function, and register it here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privact.learn.named_choice import NamedChoice, find_choice, list_choices

if TYPE_CHECKING:
    from privact.learn.search.search import SearchFunction

__all__ = ["DEFAULT_SEARCH", "SEARCHES", "find_search"]

DEFAULT_SEARCH = "linkage+gentree"
"""The search that is used unless another is asked for."""


def _gentree() -> SearchFunction:
    from privact.learn.search.gentree import search_by_chain

    return search_by_chain


def _linkage() -> SearchFunction:
    from privact.learn.search.linkage import search_by_linkage

    return search_by_linkage


def _linkage_gentree() -> SearchFunction:
    from privact.learn.search.linkage_gentree import search_by_default

    return search_by_default


SEARCHES = list_choices(
    [
        NamedChoice("gentree", "the paper's chain from a random tree", _gentree),
        NamedChoice("linkage", "average linkage", _linkage),
        NamedChoice(
            "linkage+gentree",
            "splits that keep the balance, or with balance 0 average linkage, improved by swaps",
            _linkage_gentree,
        ),
    ]
)
"""Every search by its name."""


def find_search(name: str) -> SearchFunction:
    """The search of that name, or InputError."""
    return find_choice("search", name, SEARCHES)
