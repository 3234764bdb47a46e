"""How often one user, one address or the operator may ask: token buckets in bounded memory."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from typing import Final

from privact.aggregator.http.responses import Refusal

__all__ = ["Buckets", "address_key", "too_many"]

_MOST_BUCKETS: Final = 65_536


class Buckets:
    """One bucket of permissions for each key; it holds at most `burst` and fills at `rate` a second.

    rate: permissions a second; 0 for no limit.
    burst: permissions that a key may use at once.
    most: keys that are remembered; the one that asked longest ago is forgotten first and begins with a full bucket again.
    clock: seconds that only go forward.
    """

    def __init__(
        self, rate: float, burst: int, *, most: int = _MOST_BUCKETS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate = rate
        self._burst = burst
        self._most = most
        self._clock = clock
        self._buckets: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def take(self, key: Hashable) -> float:
        """Use one permission: 0 if there was one, else after how many seconds there will be one."""
        if self._rate == 0:
            return 0.0
        now = self._clock()
        held, since = self._buckets.pop(key, (float(self._burst), now))
        held = min(float(self._burst), held + (now - since) * self._rate)
        wait = 0.0 if held >= 1 else (1 - held) / self._rate
        self._buckets[key] = (held - 1 if held >= 1 else held, now)
        if len(self._buckets) > self._most:
            self._buckets.popitem(last=False)
        return wait

    def wait(self, key: Hashable) -> float:
        """After how many seconds there is a permission, without using it; 0 if there is one now."""
        if self._rate == 0 or key not in self._buckets:
            return 0.0
        held, since = self._buckets[key]
        held = min(float(self._burst), held + (self._clock() - since) * self._rate)
        return 0.0 if held >= 1 else (1 - held) / self._rate

    def __len__(self) -> int:
        """How many keys are remembered."""
        return len(self._buckets)


@lru_cache(maxsize=4096)  # an address is asked for with every request, and parsing it takes longer than all limits together
def address_key(host: str | None) -> str:
    """The key of an address: itself, or for IPv6 its /64 network, which one customer has to himself."""
    try:
        address = ip_address(host or "")
    except ValueError:
        return host or ""
    if isinstance(address, IPv6Address) and address.ipv4_mapped is None:
        return str(int(address) >> 64)
    return str(address)


def too_many(wait: float) -> Refusal:
    """The refusal of who asks too often.

    wait: seconds until there is a permission.
    """
    return Refusal(429, f"too many requests: try again in {max(1, round(wait + 0.5))} s", retry_after=wait)
