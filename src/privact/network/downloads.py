"""Fetching one file from the web into a temporary place: its size first, then all of it or nothing."""

from __future__ import annotations

import hashlib
import http.client
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from privact.errors import PrivaCTError
from privact.progress import Progress

__all__ = ["ask_size", "download"]

PATIENCE = 30.0
"""Seconds without an answer after which a server is given up."""

LARGEST = 512 * 2**20
"""Bytes that are fetched at most."""

_BLOCK = 1 << 16


def ask_size(address: str) -> int | None:
    """Bytes of the file at an address, None if the server does not say; raises PrivaCTError if it cannot be reached."""
    try:
        with _asked(address, "HEAD") as answer:
            return _length(answer)
    except _Unsupported:
        return None


def download(address: str, target: Path, tell: Progress) -> str:
    """Fetch a file; returns the SHA-256 of what was written.

    target: the file to write, in a place that is removed if this raises. tell: is told what is fetched, how much is done, of how
    much.
    """
    digest, got = hashlib.sha256(), 0
    with _asked(address, "GET") as answer, target.open("xb") as file:
        expected = _length(answer)
        while True:
            try:
                block = answer.read(_BLOCK)
            except (OSError, http.client.HTTPException) as error:
                raise PrivaCTError(f"{address} broke off after {got:,} bytes ({_reason(error)}): try again") from None
            if not block:
                break
            got += len(block)
            if got > LARGEST:
                raise PrivaCTError(f"{address} is larger than {LARGEST:,} bytes: it is not the official archive")
            digest.update(block)
            try:
                file.write(block)
            except OSError as error:
                raise PrivaCTError(f"cannot keep {target.name} in {target.parent}: {_reason(error)}") from None
            tell(f"fetching {target.name}", got, expected or 0)
    if expected is not None and got != expected:
        raise PrivaCTError(f"{address} broke off after {got:,} of {expected:,} bytes: try again")
    return digest.hexdigest()


class _Unsupported(PrivaCTError):
    """The server does not answer questions of this kind."""


def _asked(address: str, method: str) -> Any:
    """The answer of the server."""
    request = urllib.request.Request(address, method=method, headers={"User-Agent": "privact"})
    try:
        answer = urllib.request.urlopen(request, timeout=PATIENCE)
    except urllib.error.HTTPError as error:
        with error:
            if method == "HEAD" and error.code in (403, 405, 501):
                raise _Unsupported(address) from None
            raise PrivaCTError(f"{address} answers {error.code} {error.reason}") from None
    except (OSError, http.client.HTTPException) as error:
        raise PrivaCTError(f"cannot reach {address} ({_reason(error)})") from None
    if address.startswith("https:") and not answer.url.startswith("https:"):
        answer.close()
        raise PrivaCTError(f"{address} leads to {answer.url}, which is not encrypted")
    return answer


def _length(answer: Any) -> int | None:
    stated = answer.headers.get("Content-Length", "")
    return int(stated) if stated.isdigit() else None


def _reason(error: Exception) -> str:
    inner = getattr(error, "reason", None) or error
    return str(getattr(inner, "strerror", None) or inner or type(error).__name__).lower()
