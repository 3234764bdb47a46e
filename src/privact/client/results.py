"""What comes back from a round that is over: a user's close community, and items that suit the user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from privact.client.device_client import DeviceClient
from privact.errors import AggregatorError, InputError

__all__ = [
    "CloseCommunity",
    "LikelyContact",
    "SuitingItem",
    "find_result_round",
    "read_community",
    "read_people",
    "read_recommendations",
]

_LONGEST: Final = 2**20


@dataclass(frozen=True)
class CloseCommunity:
    """The people closest to a user.

    round_id: the round that found them.
    size: how many people are in the community, the user included.
    others: ids of the first of them, without the user.
    """

    round_id: str
    size: int
    others: tuple[str, ...]


@dataclass(frozen=True)
class SuitingItem:
    """An item for a user, and why it is listed, in words."""

    item: str
    reason: str


@dataclass(frozen=True)
class LikelyContact:
    """Somebody whom a user may know, and why they are listed, in words."""

    user: str
    reason: str


def find_result_round(aggregator: DeviceClient, wanted: str | None = None) -> str:
    """The round whose result a person means: the named one, or the newest that is released and that this user answered."""
    found = [notice.id for notice in aggregator.me().rounds if notice.state == "released" and notice.answered]
    if wanted is None and not found:
        raise InputError("no round that you answered is over yet: come back when one is")
    if wanted is not None and wanted not in found:
        known = f"you answered {', '.join(found[:5])}" if found else "come back when it is"
        raise InputError(f"round {wanted!r} is not over, or you did not answer it: {known}")
    return wanted or found[0]


def read_community(aggregator: DeviceClient, user: str, round_id: str, size: int) -> CloseCommunity:
    """The community of about `size` people around the user who asks; only the own id is in the question.

    aggregator: a connection with the user's token. user: the user's own id.
    """
    if size < 1:
        raise InputError(f"--size is {size}; a community has at least 1 person: choose for example 20")
    path = f"/v1/rounds/{round_id}/tree/community?{urlencode({'user': user, 'size': size})}"
    said = aggregator.ask_document(path, _LONGEST)
    try:
        people = [str(each["user"]) for each in said["users"]]
        return CloseCommunity(round_id, int(said["size"]), tuple(person for person in people if person != user))
    except (LookupError, TypeError, ValueError):
        raise _make_error(aggregator, path) from None


def read_recommendations(aggregator: DeviceClient, round_id: str, k: int) -> list[SuitingItem]:
    """Up to k items for the user who asks, the best first; the aggregator refuses where it has no ratings."""
    path = f"/v1/rounds/{round_id}/recommendations?{urlencode({'k': k})}"
    said = aggregator.ask_document(path, _LONGEST)
    try:
        return [SuitingItem(str(each["item"]), str(each["reason"])) for each in said["items"]]
    except (LookupError, TypeError):
        raise _make_error(aggregator, path) from None


def read_people(aggregator: DeviceClient, round_id: str, k: int) -> list[LikelyContact]:
    """Up to k people whom the user who asks may know, the likeliest first; only people who want to be found are named."""
    path = f"/v1/rounds/{round_id}/people?{urlencode({'k': k})}"
    said = aggregator.ask_document(path, _LONGEST)
    try:
        return [LikelyContact(str(each["user"]), str(each["reason"])) for each in said["people"]]
    except (LookupError, TypeError):
        raise _make_error(aggregator, path) from None


def _make_error(aggregator: DeviceClient, path: str) -> AggregatorError:
    return AggregatorError(
        f"{path.partition('?')[0]} at {aggregator.address.url} is not what an aggregator answers: check the address"
    )
