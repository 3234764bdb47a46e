"""How operator commands speak to an aggregator: HTTP with the operator's token, and one line when something is wrong."""

from __future__ import annotations

import os
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote, urlsplit

import typer

from privact.errors import InputError, MissingExtraError, PrivaCTError

__all__ = ["PlainHttp", "ServerError", "TokenFile", "Url", "call", "in_path", "operator_token"]

Url = Annotated[str, typer.Option("--url", envvar="PRIVACT_URL", metavar="URL", help="The aggregator.")]
TokenFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="File with the operator's token.", show_default="the variable PRIVACT_OPERATOR_TOKEN"),
]
PlainHttp = Annotated[bool, typer.Option("--allow-plain-http", help="Send the token without TLS beyond this machine.")]

_SECONDS = 120.0


class ServerError(PrivaCTError):
    """The aggregator refused, or cannot be reached."""


def call(
    method: str,
    url: str,
    path: str,
    *,
    token_file: Path | None = None,
    allow_plain_http: bool = False,
    document: Any = None,
    text: bytes | None = None,
) -> Any:
    """Ask the aggregator as the operator; its JSON answer, or None if the answer is empty.

    method, path: of the request; the path begins with /v1.
    url: the aggregator.
    token_file: where the token is, instead of PRIVACT_OPERATOR_TOKEN.
    allow_plain_http: send the token without TLS to another machine.
    document: a JSON body.
    text: a text body.
    """
    loopback = _checked(url, allow_plain_http)
    headers = {"Authorization": f"Bearer {operator_token(token_file)}"}
    if text is not None:
        headers["Content-Type"] = "text/csv; charset=utf-8"
    try:
        import httpx
    except ImportError:
        raise MissingExtraError("httpx", "device", "speaking to an aggregator") from None
    try:
        with httpx.Client(trust_env=not loopback, timeout=_SECONDS) as client:  # no proxy between this machine and itself
            answer = client.request(method, url.rstrip("/") + path, headers=headers, json=document, content=text)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        reason = " ".join(str(error).split()).lower() or type(error).__name__
        raise ServerError(f"cannot reach {url}: {reason}: is privact serve running there?") from None
    if answer.is_success and not answer.content:
        return None
    try:
        read = answer.json()
    except ValueError:
        read = None
    if not answer.is_success:
        told = read.get("error") if isinstance(read, dict) else None
        raise ServerError(str(told) if told else f"{url} answered {answer.status_code}: is it an aggregator?")
    if not isinstance(read, dict):
        raise ServerError(f"{url} did not answer in JSON: is it an aggregator?")
    return read


def in_path(text: str) -> str:
    """Text as one part of a path."""
    return quote(text, safe="")


def _checked(url: str, allow_plain_http: bool) -> bool:
    """Whether the URL is on this machine; refused if the token would travel in the clear."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(f"--url {url} is no address: give for example http://127.0.0.1:8420")
    try:
        loopback = ip_address(parts.hostname).is_loopback
    except ValueError:
        loopback = parts.hostname == "localhost"
    if parts.scheme == "http" and not loopback and not allow_plain_http:
        raise InputError(f"--url {url} would show the token to the network: use https, or add --allow-plain-http")
    return loopback


def operator_token(file: Path | None) -> str:
    """The operator's token."""
    try:
        token = os.environ.get("PRIVACT_OPERATOR_TOKEN", "") if file is None else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the token from {file}: {error}") from None
    token = token.strip()
    if not token.isascii() or not token.isprintable() or not token:
        raise InputError("the operator's token is needed: set PRIVACT_OPERATOR_TOKEN or pass --token-file FILE")
    return token
