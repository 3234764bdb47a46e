"""The device for a browser: its page at /join/ and the files it loads."""

from __future__ import annotations

import io
import re
from typing import Final

import segno
from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from privact.aggregator.http.dependencies import pace_public
from privact.aggregator.http.responses import Refusal
from privact.aggregator.pages.join_files import JOIN_KINDS, JOIN_POLICY, read_join_file

__all__ = ["router"]

router: Final = APIRouter(include_in_schema=False)

_HOST: Final = re.compile(r"[A-Za-z0-9.:\[\]-]{1,260}")


@router.get("/join")
async def get_join() -> Response:
    """Invitations point here; what is after their # stays in the browser, through the redirect too.

    Browsers keep the redirect, so that a link opens the page without a network too: the page keeps only what is below /join/.
    """
    return RedirectResponse("join/", 308, headers={"Cache-Control": "public, max-age=31536000"})


@router.get("/join-code.svg", dependencies=[Depends(pace_public)])
async def get_join_code(request: Request) -> Response:
    """The address of the device's page as a QR code, for a phone: on the host and with the scheme that the browser asked for."""
    host = request.headers.get("host", "")
    if not _HOST.fullmatch(host):
        raise Refusal(400, "the Host header names no host")
    picture = io.BytesIO()
    segno.make(f"{request.url.scheme}://{host}/join/", error="m").save(
        picture, kind="svg", scale=4, light="#fff", xmldecl=False, title="QR code"
    )
    return Response(picture.getvalue(), media_type="image/svg+xml", headers={"Cache-Control": "no-store"})


@router.get("/join/{name:path}")
async def get_join_file(request: Request, name: str) -> Response:
    """A file of the page, or that the browser has it already."""
    found = read_join_file(name)
    if found is None:
        raise Refusal(404, "nothing is at this address")
    content, tag = found
    headers = {"ETag": tag, "Cache-Control": "no-cache", "Content-Security-Policy": JOIN_POLICY}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    suffix = name[name.rfind(".") :] if name else ".html"
    return Response(content, media_type=JOIN_KINDS[suffix], headers=headers)
