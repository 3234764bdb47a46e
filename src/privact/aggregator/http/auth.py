"""Who is asking: a bearer token -> a user, the operator, or one and the same refusal.

A missing header, a malformed token, an unknown user and a wrong secret get the same bytes, and they get them at the same
time: a refusal is sent at a multiple of ten milliseconds after the request came, which drowns what the lookups took.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final, NoReturn

from starlette.requests import Request

from privact.aggregator.domain.access.operators import Operator, read_operators
from privact.aggregator.domain.access.tokens import Claim, is_right, names_somebody, read_claim
from privact.aggregator.domain.enrolment import User, find_users
from privact.aggregator.domain.refusals import Busy
from privact.aggregator.http.batches import Batches, Overloaded
from privact.aggregator.http.rate_limits import Buckets, address_key, too_many
from privact.aggregator.http.responses import Refusal
from privact.aggregator.settings import Settings
from privact.aggregator.storage.database import Store

__all__ = ["Gate"]

_STEP_SECONDS: Final = 0.010
_MOST_CACHED: Final = 16_384
_LOOKUP_RATE: Final = 5.0  # lookups a second for an address that showed too many wrong tokens
_LOOKUP_BURST: Final = 20
_CACHED_SECONDS: Final = 5.0
"""How long another server on the same database may still believe a token that was replaced here."""


class Gate:
    """The door of one server.

    store: where users are.
    settings: how often one may ask.
    now: the clock, UTC seconds.
    """

    def __init__(self, store: Store, settings: Settings, now: Callable[[], float]) -> None:
        self._store = store
        self._now = now
        self._lookups = Batches(self._look_up, name="privact-login", most_waiting=settings.queue_length)
        self._known: OrderedDict[bytes, tuple[User, float]] = OrderedDict()
        self._n_changes = 0
        self._operators: tuple[dict[bytes, Operator], float] = ({}, 0.0)
        self._failures = Buckets(settings.login_failure_rate, settings.login_failure_burst)
        self._lookups_after_failures = Buckets(_LOOKUP_RATE, _LOOKUP_BURST)
        self._by_user = Buckets(settings.report_rate, settings.report_burst)
        self._by_operator = Buckets(settings.operator_rate, settings.operator_burst)

    def start(self) -> None:
        """Begin to look users up; call it in the event loop."""
        self._lookups.start()

    async def stop(self) -> None:
        """Serve who waits, then stop."""
        await self._lookups.stop()

    async def require_user(self, request: Request) -> User:
        """The user who asks."""
        begin, shown = time.monotonic(), read_claim(request.scope["headers"])
        self.pace_failures(request, shown)
        self.pace(shown)
        user = await self._find_user(shown)
        if user is None:
            await self.refuse(request, begin)
        return user

    async def is_user(self, request: Request) -> bool:
        """Whether a user asks; a wrong token counts as one, but is not refused."""
        shown = read_claim(request.scope["headers"])
        self.pace_failures(request, shown)
        self.pace(shown)
        if await self._find_user(shown) is not None:
            return True
        self._failures.take(_address(request))
        return False

    async def require_operator(self, request: Request) -> Operator:
        """Refuse everyone but operators; who it is."""
        begin, shown = time.monotonic(), read_claim(request.scope["headers"])
        operator = await self.find_operator(shown)
        if operator is None:
            await self.refuse(request, begin)
        self._pace(self._by_operator, operator.name)
        return operator

    @staticmethod
    def check_scope(operator: Operator, scope: str) -> None:
        """Refuse an operator whose token does not have a scope."""
        if scope not in operator.scopes:
            having = ", ".join(sorted(operator.scopes))
            raise Refusal(403, f"the token of operator {operator.name!r} may not do this: it has {having}, this needs {scope}")

    async def require_anyone_enrolled(self, request: Request) -> None:
        """Refuse everyone but users and the operator."""
        begin, shown = time.monotonic(), read_claim(request.scope["headers"])
        if await self.find_operator(shown) is not None:
            return
        self.pace_failures(request, shown)
        self.pace(shown)
        if await self._find_user(shown) is None:
            await self.refuse(request, begin)

    async def find_operator(self, shown: Claim) -> Operator | None:
        """Whose token this is among operators; None if it is nobody's or has expired."""
        known, until = self._operators
        if time.monotonic() >= until:
            known = await asyncio.to_thread(self._read_operators)
            self._operators = (known, time.monotonic() + _CACHED_SECONDS)
        found = None
        for kept, operator in known.items():  # all of them, so that the time does not tell which
            if is_right(shown.sha256, kept):
                found = operator
        return None if found is None or (found.expires is not None and self._now() >= found.expires) else found

    def forget_operators(self) -> None:
        """Look operators up again next time, because they have changed."""
        self._operators = ({}, 0.0)

    def pace(self, shown: Claim) -> None:
        """Refuse a token that is shown too often; each counts for itself, so nobody can use up another's share."""
        self._pace(self._by_user, shown.sha256)

    def pace_failures(self, request: Request, shown: Claim) -> None:
        """Bound the work for an address that showed too many wrong tokens: nothing is looked up or read for tokens that name
        nobody, and only some lookups a second for others, so that a right token behind the same address still gets through.
        """
        address = _address(request)
        if wait := self._failures.wait(address):
            if names_somebody(shown):
                wait = self._lookups_after_failures.take(address)
            if wait:
                raise too_many(wait)

    async def refuse(self, request: Request, begin: float) -> NoReturn:
        """Refuse a wrong token; the response time does not depend on what was looked up.

        begin: when the request came, by time.monotonic().
        """
        wait = self._failures.take(_address(request))
        taken = time.monotonic() - begin
        await asyncio.sleep(_STEP_SECONDS - taken % _STEP_SECONDS)
        if wait:
            raise too_many(wait)
        raise Refusal(401, "a valid token is needed: send it as 'Authorization: Bearer TOKEN'")

    def forget_all(self) -> None:
        """Look every user up again, because all tokens have changed."""
        self._n_changes += 1
        self._known.clear()

    def forget(self, digest: bytes) -> None:
        """Look this user up again next time, because the token has changed."""
        self._n_changes += 1
        self._known.pop(digest, None)

    async def _find_user(self, shown: Claim) -> User | None:
        known = self._known.get(shown.digest)
        if known and time.monotonic() < known[1] and is_right(shown.sha256, known[0].token_sha256):
            return known[0]
        n_changes = self._n_changes
        try:
            found = await self._lookups.ask(shown.digest)
        except Overloaded:
            raise Busy from None
        if not is_right(shown.sha256, found.token_sha256 if found else None) or found is None:
            return None
        if n_changes == self._n_changes:  # else this may be what was replaced meanwhile
            self._known[found.digest] = (found, time.monotonic() + _CACHED_SECONDS)
        if len(self._known) > _MOST_CACHED:
            self._known.popitem(last=False)
        return found

    def _pace(self, buckets: Buckets, key: Hashable) -> None:
        if wait := buckets.take(key):
            raise too_many(wait)

    def _look_up(self, digests: list[bytes]) -> list[User | None]:
        with self._store.read() as connection:
            found = find_users(connection, digests)
        return [found.get(digest) for digest in digests]

    def _read_operators(self) -> dict[bytes, Operator]:
        with self._store.read() as connection:
            return read_operators(connection)


def _address(request: Request) -> str:
    return address_key(request.client.host if request.client else None)
