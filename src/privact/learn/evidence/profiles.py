"""Every profile by name. To add one: write a module with a `Profile`, and register it here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privact.learn.named_choice import NamedChoice, find_choice, list_choices

if TYPE_CHECKING:
    from privact.learn.evidence.profile import Profile

__all__ = ["DEFAULT_PROFILE", "LABEL_PROFILES", "ONE_ROUND_PROFILES", "PROFILES", "find_profile"]

DEFAULT_PROFILE = "counts"
"""The profile that is used unless another is asked for; a tree file names any other."""

LABEL_PROFILES = frozenset({"shares+own"})
"""The profiles that look at users' own public labels, and so need labels as bins."""


def _counts() -> Profile:
    from privact.learn.evidence.counts_profile import COUNTS

    return COUNTS


def _shares() -> Profile:
    from privact.learn.evidence.shares_profile import SHARES

    return SHARES


def _shares_own() -> Profile:
    from privact.learn.evidence.shares_profile import SHARES_OWN

    return SHARES_OWN


def _series() -> Profile:
    from privact.learn.evidence.series_profile import SERIES

    return SERIES


PROFILES = list_choices(
    [
        NamedChoice("counts", "by how many contacts are in each bin", _counts),
        NamedChoice("shares", "by which share of the contacts is in each bin", _shares),
        NamedChoice("shares+own", "by which share of the contacts is in each bin, and by the own label", _shares_own),
        NamedChoice("series", "by the groups that several rounds find them and their contacts in", _series),
    ]
)
"""Every profile by its name; the description completes "users are compared ..."."""


ONE_ROUND_PROFILES = {name: choice for name, choice in PROFILES.items() if name != "series"}
"""The profiles that compare users by a single round."""


def find_profile(name: str) -> Profile:
    """The profile of that name, or InputError."""
    return find_choice("profile", name, PROFILES)
