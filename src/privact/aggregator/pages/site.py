"""The pages as a person opens them: whole files from this package, under a policy that lets nothing else in.

Pages hold no data. Their scripts ask the API as any other client does; a token that a person gives is kept by the browser tab
and sent in a header, never in a cookie, so no other site can make requests in a person's name.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib.resources import files
from typing import Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from privact.aggregator.http.responses import Refusal

__all__ = ["PAGES", "POLICY", "router"]

PAGES: Final = {
    "/": "index.html",
    "/operator": "operator.html",
    "/me": "me.html",
    "/rounds/{id}": "round.html",
    "/rounds/{id}/tree": "tree.html",
}
"""Which page is at which address."""

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""What a page may load and do: its own scripts and style, and questions to this server."""

_KINDS: Final = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
_INCLUDE: Final = re.compile(rb"<!-- include ([a-z]+\.html) -->\n")
_FOLDERS: Final = (("privact.aggregator", "pages", "static"), ("privact.drawing", "explorer"))

router: Final = APIRouter(include_in_schema=False)


@cache
def _file(name: str) -> tuple[bytes, str] | None:
    """The content of a file of the pages and its tag, or None if there is none with this name."""
    for package, *folders in _FOLDERS:
        file = files(package).joinpath(*folders, name)
        if file.is_file():
            content = _INCLUDE.sub(_included, file.read_bytes()) if name.endswith(".html") else file.read_bytes()
            return content, f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    return None


def _included(mark: re.Match[bytes]) -> bytes:
    """The file that a page takes in: what several pages have in common is written once."""
    found = _file(mark[1].decode())
    assert found is not None, mark[1]
    return found[0]


def _sent(request: Request, name: str) -> Response:
    """A file, or that it is the one which the browser has."""
    suffix = name[name.rfind(".") :]
    found = _file(name) if suffix in _KINDS and "/" not in name else None
    if found is None:
        raise Refusal(404, "nothing is at this address")
    content, tag = found
    headers = {"ETag": tag, "Cache-Control": "no-cache", "Content-Security-Policy": POLICY}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=_KINDS[suffix], headers=headers)


@router.get("/static/{name}")
async def static(request: Request, name: str) -> Response:
    """A script, a style sheet or a picture of the pages."""
    return _sent(request, name if not name.endswith(".html") else "")


@router.get("/favicon.ico")
async def icon() -> Response:
    """Browsers ask for it here."""
    return RedirectResponse("/static/icon.svg", 308)


def _serve(address: str, name: str) -> None:
    async def page(request: Request) -> Response:
        return _sent(request, name)

    router.add_api_route(address, page, methods=["GET"], name=name)


for _address, _name in PAGES.items():
    _serve(_address, _name)
