"""How operator commands find the aggregator and the token: options, and one request."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import typer

from privact.errors import InputError

__all__ = ["LOCAL_URL", "PlainHttp", "TokenFile", "Url", "call", "in_path", "read_operator_token"]

LOCAL_URL = "http://127.0.0.1:8420"
"""Where privact serve listens unless it is told otherwise."""

Url = Annotated[str, typer.Option("--url", envvar="PRIVACT_URL", metavar="URL", help="The aggregator.")]
TokenFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="File with the operator's token.", show_default="the variable PRIVACT_OPERATOR_TOKEN"),
]
PlainHttp = Annotated[bool, typer.Option("--allow-plain-http", help="Send the token without TLS beyond this machine.")]


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
    """Ask the aggregator as the operator; the JSON object that it sends, or None if it sends nothing.

    method, path: of the request; the path begins with /v1.
    url: the aggregator.
    token_file: where the token is, instead of PRIVACT_OPERATOR_TOKEN.
    allow_plain_http: send the token without TLS to another machine.
    document: a JSON body; text: a text body instead.
    """
    from privact.client.operator_client import OperatorClient
    from privact.protocol.addresses import aggregator_address

    if "://" not in url:
        raise InputError(f"--url {url} is no address: give for example {LOCAL_URL}")
    address = aggregator_address(url, allow_plain_http=allow_plain_http)
    with OperatorClient(address, read_operator_token(token_file)) as operator:
        return operator.ask_json(method, path, document, text)


def in_path(text: str) -> str:
    """Text as one part of a path."""
    return quote(text, safe="")


def read_operator_token(file: Path | None) -> str:
    """The operator's token, from a file or else from PRIVACT_OPERATOR_TOKEN."""
    try:
        token = os.environ.get("PRIVACT_OPERATOR_TOKEN", "") if file is None else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the token from {file}: {error}") from None
    token = token.strip()
    if not token.isascii() or not token.isprintable() or not token:
        raise InputError("the operator's token is needed: set PRIVACT_OPERATOR_TOKEN or pass --token-file FILE")
    return token
