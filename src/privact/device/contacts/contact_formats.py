"""The registry of contact formats, in the order in which they are tried. A new format is one module and one line here."""

from __future__ import annotations

from typing import Final

from privact.device.contacts import edge_list, mastodon, matrix_account, vcard
from privact.device.contacts.source import Source

__all__ = ["SOURCES"]

SOURCES: Final[dict[str, Source]] = {
    source.name: source
    for source in (
        vcard.SOURCE,
        matrix_account.SOURCE,
        mastodon.SOURCE,
        edge_list.SOURCE,  # takes everything, so it comes last
    )
}
"""Every format by its name."""
