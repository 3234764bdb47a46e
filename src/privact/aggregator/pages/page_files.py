"""The files of the pages, and the policy under which a browser shows them.

Pages hold no data. Their scripts ask the API as any other client does; a token that a person gives is kept by the browser tab
and sent in a header, never in a cookie, so no other site can make requests in a person's name.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib.resources import files
from typing import Final

__all__ = ["KINDS", "PAGES", "POLICY", "read_page_file"]

PAGES: Final = {
    "/": "index.html",
    "/operator": "operator.html",
    "/me": "me.html",
    "/series/{name}": "series.html",
    "/rounds/{round_id}": "round.html",
    "/rounds/{round_id}/tree": "tree.html",
}
"""Which page is at which address."""

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""What a page may load and do: its own scripts and style, and questions to this server."""

KINDS: Final = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
"""The media type of a file by its suffix."""
_INCLUDE: Final = re.compile(rb"<!-- include ([a-z]+\.html) -->\n")
_FOLDERS: Final = (("privact.aggregator", "pages", "static"), ("privact.drawing", "explorer"))


@cache
def read_page_file(name: str) -> tuple[bytes, str] | None:
    """The content of a file of the pages and its tag, or None if there is none with this name."""
    for package, *folders in _FOLDERS:
        file = files(package).joinpath(*folders, name)
        if file.is_file():
            content = _INCLUDE.sub(_include, file.read_bytes()) if name.endswith(".html") else file.read_bytes()
            return content, f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    return None


def _include(mark: re.Match[bytes]) -> bytes:
    """The file that a page takes in: what several pages have in common is written once."""
    found = read_page_file(mark[1].decode())
    assert found is not None, mark[1]
    return found[0]
