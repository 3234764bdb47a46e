"""The address of an aggregator: any spelling of a URL -> the one that is used, and the name under which its budget is kept."""

from __future__ import annotations

import hashlib
import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from privact.errors import InputError

__all__ = ["Address", "aggregator_address", "is_loopback"]

_DEFAULT_PORT = {"http": 80, "https": 443}
_HOST = re.compile(r"[a-z0-9]([a-z0-9._-]*[a-z0-9])?\.?")


@dataclass(frozen=True)
class Address:
    """Where an aggregator is.

    url: scheme, host, port and path without a slash at the end; paths of the service are appended to it.
    key: host, port and path: what a budget belongs to. http and https of one host are one aggregator.
    loopback: whether it is this machine.
    """

    url: str
    key: str
    loopback: bool

    @property
    def folder_name(self) -> str:
        """A name for the folder of this aggregator, readable and different for every key."""
        readable = re.sub(r"[^a-z0-9.]+", "-", self.key.lower()).strip("-.")[:40]
        return f"{readable}-{hashlib.blake2b(self.key.encode(), digest_size=6).hexdigest()}"


def aggregator_address(url: str, *, allow_plain_http: bool = False) -> Address:
    """The address that a person means.

    url: such as https://clusters.example or http://127.0.0.1:8420; without a scheme, https is meant.
    allow_plain_http: take http also for another machine, where everyone on the way could read and change what is sent.
    """
    text = url.strip()
    try:
        parts = urlsplit(text if "://" in text else f"https://{text}")
        port = parts.port
    except ValueError:
        raise InputError(f"{url!r} is not an address: give for example https://clusters.example") from None
    scheme, host = parts.scheme.lower(), _ascii_host(parts.hostname or "", url)
    if scheme not in _DEFAULT_PORT:
        raise InputError(f"{url!r} begins with {scheme}://: an aggregator is reached by https://")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise InputError("the address of an aggregator has no user, question mark or hash sign: give only host, port and path")
    loopback = is_loopback(host)
    if scheme == "http" and not (loopback or allow_plain_http):
        raise InputError(
            f"{url!r} is plain http to another machine, and anyone on the way could read the token: "
            "use https://, or --allow-plain-http if you must"
        )
    shown_host = f"[{host}]" if ":" in host else host
    place = shown_host if port in (None, _DEFAULT_PORT[scheme]) else f"{shown_host}:{port}"
    path = parts.path.rstrip("/")
    return Address(f"{scheme}://{place}{path}", f"{place}{path}", loopback)


def _ascii_host(host: str, url: str) -> str:
    """A host name in lower case ASCII; refused if it is none."""
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        pass
    try:
        name = host if host.isascii() else host.encode("idna").decode()
    except UnicodeError:
        name = ""
    if not _HOST.fullmatch(name):
        raise InputError(f"{url!r} names no host: give for example https://clusters.example")
    return name.rstrip(".")


def is_loopback(host: str) -> bool:
    """Whether only this machine can be reached under a host's name or number."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
