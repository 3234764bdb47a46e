"""Mastodon's following_accounts.csv -> the followed accounts.

Today's export has the columns Account address, Show boosts, Notify on new posts and Languages. Older ones have fewer, or no
heading at all; people edit them in spreadsheets. So: the heading may be in any case, be absent, or have other columns before the
address; addresses may begin with @; an account without a server lives on the owner's.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from typing import Final

from privact.device.contacts.source import Asked, Source, Unread

__all__ = ["SOURCE"]

_ADDRESS_HEADINGS: Final = {"account address", "account", "address", "acct", "account name", "handle", "username"}
_OTHER_HEADINGS: Final = {"show boosts", "notify on new posts", "languages", "hide notifications", "list name", "comment"}
_FLAGS: Final = {"true", "false", "0", "1", "yes", "no"}
_ADDRESS: Final = re.compile(r"@?[^\s@,;]+(@[^\s@,;]+)?")


def _matches(text: str) -> bool:
    """Whether a text is Mastodon's export rather than an edge list: by its heading, or by flags after the first address."""
    first = next((row for row in _rows(text) if any(row)), [])
    heading = [_heading(cell) for cell in first]
    if "account address" in heading or (heading and heading[0] in _ADDRESS_HEADINGS and set(heading) & _OTHER_HEADINGS):
        return True
    return len(first) > 1 and bool(_ADDRESS.fullmatch(first[0])) and first[1].casefold() in _FLAGS


def _read(text: str, asked: Asked) -> Iterator[str | Unread]:
    """The address of each followed account; those without a server live on the owner's."""
    _, _, home = asked.owner.partition("@")
    column: int | None = None
    for number, row in enumerate(_rows(text), 1):
        if not any(row):
            continue
        if column is None:
            heading = [_heading(cell) for cell in row]
            found = [place for place, cell in enumerate(heading) if cell in _ADDRESS_HEADINGS]
            column = found[0] if found else 0
            if found:
                continue
        if len(row) <= column or not _ADDRESS.fullmatch(row[column]):
            yield Unread(f"line {number}", "there is no account address")
            continue
        address = row[column].lstrip("@")
        yield f"{address}@{home}" if home and "@" not in address else address


def _rows(text: str) -> Iterator[list[str]]:
    """The cells of each row; a row that is not CSV has one cell, which is no address."""
    lines = text.lstrip("\ufeff").splitlines()
    head = next((line for line in lines if line.strip()), "")
    separator = max(",;\t", key=head.count)  # spreadsheets write what their language is used to
    for line in lines:  # one at a time: a stray quote must not swallow the rows after it
        try:
            row = next(csv.reader([line], delimiter=separator, skipinitialspace=True), [])
        except csv.Error:
            row = ["not a row"]
        yield [cell.strip() for cell in row]


def _heading(cell: str) -> str:
    return " ".join(cell.replace("_", " ").casefold().split())


SOURCE: Final = Source("mastodon", "Mastodon's export", _matches, _read)
"""Mastodon's export of followed accounts."""
