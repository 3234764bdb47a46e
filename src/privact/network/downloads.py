"""One file from the web, whole or not at all: its size first, then its bytes, checked against a known SHA-256 by pooch."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from privact.errors import PrivaCTError
from privact.progress import Progress

__all__ = ["ask_size", "download"]

PATIENCE = 30.0
"""Seconds without a response after which a server is given up."""

LARGEST = 512 * 2**20
"""Largest download in bytes."""

_HEADERS = {"User-Agent": "privact"}
_NO_HEAD = (403, 405, 501)


def ask_size(address: str) -> int | None:
    """The size in bytes of the file at an address, None if the server does not say; PrivaCTError if it cannot be reached.

    pooch can only ask whether a file exists, so the request is made here, with the library that pooch uses.
    """
    import requests

    try:
        response = requests.head(address, timeout=PATIENCE, allow_redirects=True, headers=_HEADERS, hooks=_hooks())
        if response.status_code in _NO_HEAD:
            return None
        response.raise_for_status()
    except requests.RequestException as error:
        raise PrivaCTError(_explain(address, error)) from None
    stated = response.headers.get("Content-Length", "")
    return int(stated) if stated.isdigit() else None


def download(address: str, target: Path, progress: Progress, sha256: str | None = None) -> str:
    """Download a file and return its SHA-256; an error leaves no file.

    target: the file to write.
    progress: told the bytes that have arrived, and the size.
    sha256: the checksum that the file must have, if it is known.
    """
    import pooch
    import requests

    pooch.get_logger().setLevel("ERROR")
    downloader = pooch.HTTPDownloader(
        progressbar=_ByteCounter(address, f"fetching {target.name}", progress), timeout=PATIENCE, headers=_HEADERS, hooks=_hooks()
    )
    known = None if sha256 is None else f"sha256:{sha256}"
    try:
        pooch.retrieve(address, known, fname=target.name, path=target.parent, downloader=downloader)
    except requests.RequestException as error:
        raise PrivaCTError(_explain(address, error)) from None
    except ValueError as error:  # pooch's only sign of a wrong checksum; the first sentence has both checksums
        what = " ".join(str(error).split()).split(". ")[0]
        raise PrivaCTError(f"{address} was changed or damaged, and nothing was kept: {what}") from None
    except OSError as error:
        raise PrivaCTError(f"cannot keep {target.name} in {target.parent}: {_find_reason(error)}") from None
    return str(pooch.file_hash(str(target), alg="sha256"))


class _ByteCounter:
    """What pooch takes for a progress bar: forwards progress, and ends a download that is too large, which pooch cannot."""

    def __init__(self, address: str, stage: str, progress: Progress) -> None:
        self.address, self.stage, self.progress = address, stage, progress
        self.total = 0
        self.done = 0

    def update(self, count: int) -> None:
        self.done += count
        if self.done > LARGEST:
            raise PrivaCTError(f"{self.address} is larger than {LARGEST:,} bytes: it is not the official archive")
        self.progress(self.stage, self.done, self.total or self.done)

    def reset(self) -> None:
        self.done = 0

    def close(self) -> None:
        """Nothing to close."""


def _hooks() -> dict[str, Any]:
    """Refuse to be sent from an encrypted address to one that is not; pooch follows every redirect."""

    def refuse_plain(response: Any, *_: object, **__: object) -> None:
        following = urljoin(response.url, response.headers.get("Location", "")) if response.is_redirect else response.url
        if response.url.startswith("https:") and not following.startswith("https:"):
            raise PrivaCTError(f"{response.url} leads to {following}, which is not encrypted")

    return {"response": refuse_plain}


def _explain(address: str, error: Any) -> str:
    """One line for a request that failed."""
    from urllib3.exceptions import IncompleteRead

    if error.response is not None:
        return f"{address} answers {error.response.status_code} {error.response.reason}"
    cause = error.args[0].args[-1] if error.args and getattr(error.args[0], "args", ()) else None
    if isinstance(cause, IncompleteRead):
        got = int(cause.partial or 0)
        return f"{address} broke off after {got:,} of {got + int(cause.expected or 0):,} bytes: try again"
    return f"cannot reach {address} ({_find_reason(error)})"


def _find_reason(error: BaseException) -> str:
    """What the operating system said, the first cause of an error; else the error's own words."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror.lower()
        cause = cause.__context__
    return " ".join(str(error).split()).lower() or type(error).__name__
