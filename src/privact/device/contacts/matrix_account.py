"""Matrix account data -> the people with whom there are direct chats.

Matrix has no contact list; clients keep in the account data `m.direct` which rooms are direct chats, and with whom. A file
is that event as a client shows or downloads it ({"type": "m.direct", "content": ...}), its content alone ({"@bob:b.example":
["!room:b.example"]}), all account data by type as Synapse's export writes it (user_data/account_data/global.json) or as its
administrators are shown it ({"account_data": {"global": ...}}), or the response of a sync.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from privact.device.contacts.source import Asked, Source, Unread
from privact.errors import InputError

__all__ = ["SOURCE"]

_TYPE: Final = "m.direct"
_USER_ID: Final = re.compile(r"@[^\s:@]+:[^\s@]+")
_WHAT: Final = "this is not Matrix account data: give the event m.direct, from your client's account data or your server's export"


def _read(text: str, asked: Asked) -> Iterator[str | Unread]:
    """The id of each person with a direct chat; chats that were left are skipped, and so is whoever is no Matrix user."""
    for number, (user, rooms) in enumerate(_find_chats(_parse(text)).items(), 1):
        if not _USER_ID.fullmatch(user):
            yield Unread(f"entry {number}", "it is not a Matrix id, such as @bob:b.example")
        elif not (isinstance(rooms, list) and rooms):
            yield Unread(f"entry {number}", "the chat was left")
        elif "@" in asked.owner:
            yield Unread(f"entry {number}", f"it is a Matrix id: ids look like {asked.owner} here")
        else:
            yield user


def _parse(text: str) -> Any:
    try:
        return json.loads(text.lstrip("\ufeff"), parse_int=float, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise InputError("this begins as JSON, but is not whole: download it again") from None


def _refuse(name: str) -> None:
    raise ValueError(name)


def _find_chats(data: Any) -> dict[str, Any]:
    """The content of m.direct, wherever it is in the data."""
    if isinstance(data, dict) and isinstance(data.get("account_data"), dict):
        data = data["account_data"]
    if isinstance(data, dict) and isinstance(data.get("global"), dict):
        data = data["global"]
    if isinstance(data, dict) and isinstance(data.get("events"), list):
        events = [each for each in data["events"] if isinstance(each, dict) and each.get("type") == _TYPE]
        data = events[-1] if events else None
    if isinstance(data, dict) and _TYPE in data:
        data = data[_TYPE]
    if isinstance(data, dict) and data.get("type") == _TYPE:
        data = data.get("content")
    if not isinstance(data, dict) or (data and not any(name.startswith("@") for name in data)):
        raise InputError(_WHAT)
    return data


SOURCE: Final = Source("matrix", "Matrix account data", lambda text: text[:1] == "{", _read)
"""Matrix account data."""
