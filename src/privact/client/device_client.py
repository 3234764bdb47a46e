"""What a device asks of an aggregator. Nothing in a request depends on a contact: this package never sees one.

Requests are the same for every user of a round: who am I, what are the round's parameters, the whole label table, the log of
rounds. What the aggregator sends is checked.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final

import httpx

from privact.client.connection import Connection, Patience, Response
from privact.errors import AggregatorError, PrivaCTError, ProtocolError
from privact.protocol.addresses import Address
from privact.protocol.labels import LabelTable
from privact.protocol.round import Round
from privact.protocol.round_ids import is_round_id
from privact.protocol.round_log import LONGEST_LOG, RoundLog
from privact.protocol.users import normalise_user_id, user_digest

__all__ = ["DeviceClient", "Me", "Notice"]

_PATIENCE: Final = Patience(frozenset({429, 500, 502, 503, 504}), lost_connections=True, seconds=20.0)
_LONGEST_TABLE: Final = 2**29  # bytes: fifty million users
_MOST_ROUNDS: Final = 1000  # that are announced to one user
_TOKEN_LENGTHS: Final = range(34, 513)


@dataclass(frozen=True)
class Notice:
    """A round as the aggregator announces it to one user.

    id, digest: which round it is, exactly.
    state: "open", "closed", "learning", "released" or "failed".
    may_answer: whether the aggregator would take a report of this user now.
    answered: whether it has one.
    late: whether a report now is one of a user who enrolled after the round opened.
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


class DeviceClient:
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
        self.address, self._token = address, token
        self._connection = Connection(address, token, _PATIENCE, "privact-device", transport=transport, sleep=sleep)

    def __enter__(self) -> DeviceClient:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._connection.close()

    def me(self) -> Me:
        """Who the token belongs to, and the rounds there are; refused if the token is another user's."""
        try:
            document = self._get("/v1/me", longest=2**24).json()
            user = normalise_user_id(document["user"])
            notices = tuple(_notice(each) for each in document["rounds"][:_MOST_ROUNDS])  # newest first
        except AggregatorError:
            raise
        except (LookupError, TypeError, ValueError, PrivaCTError):
            raise AggregatorError(f"/v1/me at {self.address.url} is not what an aggregator answers: check the address") from None
        if self._token.partition(".")[0] != user_digest(user).hex():
            raise AggregatorError(f"{self.address.url} takes the token for that of {user!r}, whose it is not: ask the operator")
        return Me(user, notices)

    def round(self, notice: Notice) -> Round:
        """The parameters of an announced round; anything but the announced bytes is refused."""
        response = self._get(f"/v1/rounds/{notice.id}/parameters", longest=4096)
        round = Round.from_bytes(response.content, notice.digest)
        if round.id != notice.id:
            raise ProtocolError(f"round {notice.id!r} calls itself {round.id!r}: it is not answered, tell the operator")
        return round

    def labels(self, round: Round) -> LabelTable | None:
        """The whole label table of a round with label bins, never a part of it; None for random bins."""
        if round.bins != "labels":
            return None
        longest = min(64 + 24 * round.n_users, _LONGEST_TABLE)  # users who left or came since may be in it too
        return LabelTable.from_bytes(self._get(f"/v1/rounds/{round.id}/labels", longest).content, round.labels_digest)

    def log(self) -> RoundLog | None:
        """The log of all rounds, its signatures checked; None if the aggregator keeps none.

        It is asked for without the token: an aggregator that shows different logs must not know whom it shows them to.
        """
        response = self._connection.ask("GET", "/v1/log", longest=LONGEST_LOG, anonymous=True)
        if response.status == 404:
            return None
        if not response.is_success:
            raise AggregatorError(f"/v1/log at {self.address.url}: {response.error_line()}: ask the operator")
        return RoundLog.from_bytes(response.content)

    def ask_document(self, path: str, longest: int) -> Any:
        """The JSON that the aggregator has for this user at an address.

        path: begins with /v1. longest: most bytes that are read.
        """
        try:
            return self._get(path, longest).json()
        except ValueError:
            raise AggregatorError(f"{path} at {self.address.url} is not what an aggregator answers: check the address") from None

    def send_report(self, round_id: str, report: bytes) -> Response:
        """Send the bytes of a report, the same ones again where the network or the aggregator fails for a moment."""
        response = self._connection.ask("PUT", f"/v1/rounds/{round_id}/report", longest=65536, content=report)
        self._refuse_unknown_token(response)
        return response

    def set_discoverable(self, discoverable: bool) -> None:
        """Say whether the token's user may be named to others as somebody whom they may know."""
        path, wish = "/v1/me/discoverable", b'{"discoverable": true}' if discoverable else b'{"discoverable": false}'
        response = self._connection.ask("PUT", path, longest=4096, content=wish, content_type="application/json")
        self._refuse_unknown_token(response)
        if response.status != 200:
            raise AggregatorError(f"{path} at {self.address.url}: {response.error_line()}: ask the operator")

    def _get(self, path: str, longest: int) -> Response:
        response = self._connection.ask("GET", path, longest=longest)
        self._refuse_unknown_token(response)
        if response.status != 200:
            raise AggregatorError(f"{path} at {self.address.url}: {response.error_line()}: ask the operator")
        return response

    def _refuse_unknown_token(self, response: Response) -> None:
        if response.status == 401:
            raise AggregatorError(
                f"{self.address.url} does not know this token: ask the operator for a new one, then `privact device join` again"
            )


def _notice(document: Any) -> Notice:
    """An announced round, if it is one."""
    id, state, digest = document["id"], document["state"], bytes.fromhex(document["digest"])
    if not is_round_id(id) or not isinstance(state, str) or len(digest) != 32:
        raise ValueError
    late = bool(document.get("late"))
    return Notice(id, digest, state, document["may_answer"] is True, document["answered_at"] is not None, late)
