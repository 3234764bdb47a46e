"""The pages that a person opens in a browser, and the files they load."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from privact.aggregator.http.responses import Refusal
from privact.aggregator.pages.page_files import KINDS, PAGES, POLICY, read_page_file

__all__ = ["is_for_reading", "respond_missing", "router"]

router: Final = APIRouter(include_in_schema=False)


def is_for_reading(request: Request) -> bool:
    """Whether a browser asks for a page that a person will read."""
    return request.method == "GET" and "text/html" in request.headers.get("accept", "")


def respond_missing() -> Response:
    """The page for an address where nothing is."""
    found = read_page_file("missing.html")
    assert found is not None
    return Response(found[0], 404, {"Content-Security-Policy": POLICY}, KINDS[".html"])


def _respond(request: Request, name: str) -> Response:
    """A file, or that the browser has it already."""
    suffix = name[name.rfind(".") :]
    found = read_page_file(name) if suffix in KINDS and "/" not in name else None
    if found is None:
        raise Refusal(404, "nothing is at this address")
    content, tag = found
    headers = {"ETag": tag, "Cache-Control": "no-cache", "Content-Security-Policy": POLICY}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=KINDS[suffix], headers=headers)


@router.get("/static/{name}")
async def get_static(request: Request, name: str) -> Response:
    """A script, a style sheet or a picture of the pages."""
    return _respond(request, name if not name.endswith(".html") else "")


@router.get("/favicon.ico")
async def get_icon() -> Response:
    """Browsers ask for it here."""
    return RedirectResponse("/static/icon.svg", 308)


def _add_page(address: str, name: str) -> None:
    async def page(request: Request) -> Response:
        return _respond(request, name)

    router.add_api_route(address, page, methods=["GET"], name=name)


for _address, _name in PAGES.items():
    _add_page(_address, _name)
