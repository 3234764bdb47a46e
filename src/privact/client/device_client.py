"""What a device asks of an aggregator over HTTP. Nothing in a question depends on a contact.

Questions are the same for every user of a round: who am I, what are the round's parameters, the whole label table. Answers are
not trusted: they are read up to a length, and checked. Redirects are not followed, since a token belongs to one address.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final

from privact.errors import AggregatorError, MissingExtraError, PrivaCTError, ProtocolError
from privact.protocol.addresses import Address
from privact.protocol.labels import LabelTable
from privact.protocol.round import Round
from privact.protocol.round_ids import is_round_id
from privact.protocol.users import normalise_user_id, user_digest

try:
    import httpx
except ImportError:
    raise MissingExtraError("httpx", "device", "speaking to an aggregator") from None

__all__ = ["Aggregator", "Me", "Notice", "Reply"]

ATTEMPTS: Final = 6
"""How often the same bytes are sent before giving up."""

_AGAIN: Final = frozenset({429, 500, 502, 503, 504})
_LONGEST_WAIT: Final = 30.0  # seconds between two attempts
_LONGEST_TRANSFER: Final = 300.0  # seconds for one answer
_LONGEST_TABLE: Final = 2**29  # bytes: fifty million users
_MOST_ROUNDS: Final = 1000  # that are announced to one user
_TOKEN_LENGTHS: Final = range(34, 513)


@dataclass(frozen=True)
class Reply:
    """An answer of the aggregator: status, content, and in how many attempts it was had."""

    status: int
    content: bytes
    attempts: int

    def line(self) -> str:
        """The one line that an aggregator says when something is wrong, made harmless for a terminal."""
        try:
            said = str(json.loads(self.content)["error"])
        except (ValueError, LookupError, TypeError):
            return f"status {self.status}"
        return "".join(letter if letter.isprintable() else " " for letter in said[:200])


@dataclass(frozen=True)
class Notice:
    """A round as the aggregator announces it to one user.

    id, digest: which round it is, exactly.
    state: "open", "closed", "learning", "released" or "failed".
    may_answer: whether the aggregator would take an answer of this user now.
    answered: whether it has one.
    late: whether an answer now is one of a user who enrolled after the round opened.
    """

    id: str
    digest: bytes
    state: str
    may_answer: bool
    answered: bool
    late: bool


@dataclass(frozen=True)
class Me:
    """What the aggregator knows of the user: the normalised id, and every round that concerns the user."""

    user: str
    rounds: tuple[Notice, ...]


class Aggregator:
    """A connection to one aggregator, for one user.

    address: where it is.
    token: the user's secret.
    transport: how requests travel; the network if absent.
    sleep: takes seconds; waits between attempts.
    """

    def __init__(
        self,
        address: Address,
        token: str,
        *,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if len(token) not in _TOKEN_LENGTHS or not token.isascii() or not token.isprintable() or " " in token:
            raise AggregatorError("this is not a token of a user, which is 76 letters and digits: copy it again")
        self.address, self._token, self._sleep = address, token, sleep
        self._client = httpx.Client(
            transport=transport,
            headers={"Authorization": f"Bearer {token}", "Accept-Encoding": "identity", "User-Agent": "privact-device"},
            timeout=httpx.Timeout(20.0),
            trust_env=not address.loopback,  # a proxy is for other machines
        )

    def __enter__(self) -> Aggregator:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._client.close()

    def me(self) -> Me:
        """Who the token belongs to, and the rounds there are; refused if the token is another user's."""
        said = self._json("/v1/me")
        try:
            user = normalise_user_id(said["user"])
            notices = tuple(_notice(each) for each in said["rounds"][:_MOST_ROUNDS])  # newest first
        except (LookupError, TypeError, ValueError, PrivaCTError):
            raise self._odd("/v1/me") from None
        if self._token.partition(".")[0] != user_digest(user).hex():
            raise AggregatorError(f"{self.address.url} takes the token for that of {user!r}, whose it is not: ask the operator")
        return Me(user, notices)

    def round(self, notice: Notice) -> Round:
        """The parameters of an announced round; anything but the announced bytes is refused."""
        reply = self._get(f"/v1/rounds/{notice.id}/parameters", longest=4096)
        round = Round.from_bytes(reply.content, notice.digest)
        if round.id != notice.id:
            raise ProtocolError(f"round {notice.id!r} calls itself {round.id!r}: it is not answered, tell the operator")
        return round

    def labels(self, round: Round) -> LabelTable | None:
        """The whole label table of a round with label bins, never a part of it; None for random bins."""
        if round.bins != "labels":
            return None
        longest = min(64 + 24 * round.n_users, _LONGEST_TABLE)  # users who left or came since may be in it too
        return LabelTable.from_bytes(self._get(f"/v1/rounds/{round.id}/labels", longest).content, round.labels_digest)

    def put(self, path: str, content: bytes) -> Reply:
        """Send bytes, the same ones again where the network or the aggregator fails for a moment."""
        return self.ask("PUT", path, 65536, content)

    def ask(self, method: str, path: str, longest: int, content: bytes | None = None) -> Reply:
        """One answer to a request that may be repeated without harm."""
        reason = ""
        for attempt in range(1, ATTEMPTS + 1):
            wait = min(_LONGEST_WAIT, 0.5 * 2.0 ** (attempt - 1)) * random.uniform(0.5, 1.0)
            try:
                status, headers, body = self._once(method, path, longest, content)
            except httpx.TransportError as error:
                reason = type(error).__name__
            else:
                if status not in _AGAIN:
                    return Reply(status, body, attempt)
                reason = f"status {status}"
                told = headers.get("Retry-After", "")
                if told.isascii() and told.isdigit():
                    wait = min(_LONGEST_WAIT, max(wait, float(told)))
            if attempt < ATTEMPTS:
                self._sleep(wait)
        raise AggregatorError(
            f"{self.address.url} cannot be reached ({reason}, {ATTEMPTS} attempts): run this again later, the same bytes are sent"
        )

    def _once(self, method: str, path: str, longest: int, content: bytes | None) -> tuple[int, httpx.Headers, bytes]:
        kind = {} if content is None else {"Content-Type": "application/octet-stream"}
        end = time.monotonic() + _LONGEST_TRANSFER
        with self._client.stream(method, self.address.url + path, content=content, headers=kind) as response:
            body = bytearray()
            if response.headers.get("Content-Encoding", "identity") != "identity":  # it could unpack to anything
                raise AggregatorError(f"{path} at {self.address.url} is packed, which nobody asked for: tell the operator")
            for part in response.iter_bytes():
                body += part
                if len(body) > longest:
                    raise AggregatorError(f"{path} at {self.address.url} is longer than {longest} bytes: tell the operator")
                if time.monotonic() > end:
                    raise httpx.ReadTimeout("too slow")
            return response.status_code, response.headers, bytes(body)

    def _get(self, path: str, longest: int) -> Reply:
        reply = self.ask("GET", path, longest)
        if reply.status == 401:
            raise AggregatorError(
                f"{self.address.url} does not know this token: ask the operator for a new one, then `privact device join` again"
            )
        if reply.status != 200:
            raise AggregatorError(f"{path} at {self.address.url}: {reply.line()}: ask the operator")
        return reply

    def _json(self, path: str) -> Any:
        reply = self._get(path, longest=2**24)
        try:
            return json.loads(reply.content)
        except ValueError:
            raise self._odd(path) from None

    def _odd(self, path: str) -> AggregatorError:
        return AggregatorError(f"{path} at {self.address.url} is not what an aggregator answers: check the address")


def _notice(said: Any) -> Notice:
    """An announced round, if it is one."""
    id, state, digest = said["id"], said["state"], bytes.fromhex(said["digest"])
    if not isinstance(id, str) or not isinstance(state, str) or len(digest) != 32:
        raise ValueError
    if not is_round_id(id):
        raise ValueError  # it becomes part of an address
    late = bool(said.get("late"))
    return Notice(id, digest, state, said["may_answer"] is True, said["answered_at"] is not None, late)
