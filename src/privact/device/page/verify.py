"""Whether a page that a server hands out is the released one: its address -> what differs."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

from privact.device.page.publish import page_files
from privact.errors import AggregatorError, MissingExtraError
from privact.protocol.addresses import aggregator_address

try:
    import httpx
except ImportError:
    raise MissingExtraError("httpx", "device", "fetching a page") from None

__all__ = ["Difference", "compare_page"]

_LONGEST: Final = 2**20  # bytes; no file of the page comes near
_STEERING: Final = ("refresh", "link", "service-worker-allowed")  # headers that could load or open something else


@dataclass(frozen=True)
class Difference:
    """A file of a served page that is not the released one.

    name: relative to the page. problem: what is wrong with it, in one line.
    """

    name: str
    problem: str


def compare_page(url: str, *, transport: httpx.BaseTransport | None = None) -> tuple[int, list[Difference]]:
    """How many files of a served page were compared, and which differ from those of this installation.

    url: where the page is, such as https://clusters.example/join.
    transport: how requests travel; the network if absent.
    """
    address = aggregator_address(url.split("#")[0])
    contents = page_files()
    different = []
    with httpx.Client(transport=transport, timeout=20.0, follow_redirects=False, trust_env=not address.loopback) as client:
        for name in ["", *contents]:
            problem = _problem(client, f"{address.url}/{name}", contents[name or "index.html"])
            if problem:
                different.append(Difference(name or "./", problem))
    return len(contents) + 1, different


def _problem(client: httpx.Client, url: str, expected: bytes) -> str:
    """What is wrong with one file; empty if nothing is."""
    try:
        with client.stream("GET", url) as response:
            content = b""
            for part in response.iter_bytes():
                content += part
                if len(content) > _LONGEST:
                    return f"longer than {_LONGEST} bytes"
    except httpx.TransportError as error:
        raise AggregatorError(f"cannot reach {url}: {' '.join(str(error).split()) or type(error).__name__}") from None
    if response.status_code != 200:
        return f"status {response.status_code}"
    steering = [name for name in _STEERING if name in response.headers]
    if steering:
        return f"sent with a header {steering[0]}, which could load something else"
    if content != expected:
        return f"SHA-256 {hashlib.sha256(content).hexdigest()}, released was {hashlib.sha256(expected).hexdigest()}"
    return ""
