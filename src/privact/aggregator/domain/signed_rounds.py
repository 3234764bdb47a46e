"""The signed log of rounds: every opened round is appended to it in the transaction that opens it.

Devices refuse a round that is not in the log, and a log that does not continue the one they saw. The operator's secret key is in
a file of the data folder; servers that share a database need the same file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sqlalchemy import Connection, insert, select

from privact.aggregator.storage.database import Store
from privact.aggregator.storage.schema import round_log, rounds
from privact.errors import InputError, ProtocolError
from privact.protocol.round import Round
from privact.protocol.round_log import LogEntry, RoundLog
from privact.protocol.signing import new_signing_key, public_key_of
from privact.storage import write_once

__all__ = ["KEY_FILE", "append_round", "catch_up", "read_log", "read_signing_key"]

KEY_FILE: Final = "signing-key"
"""The file in the data folder that holds the operator's secret key, mode 0600."""


def read_signing_key(folder: Path) -> bytes:
    """The operator's secret key, made at the first start.

    folder: the data folder.
    """
    path = folder / KEY_FILE
    if not path.exists():
        write_once(path, new_signing_key().hex().encode() + b"\n")
    try:
        secret = bytes.fromhex(path.read_text(encoding="ascii"))
        public_key_of(secret)
    except (OSError, ValueError, ProtocolError):
        raise InputError(f"cannot read the signing key in {path}: restore it from a backup, devices trust no other") from None
    return secret


def read_log(connection: Connection, secret: bytes) -> RoundLog:
    """The whole log, as devices get it.

    secret: the operator's key.
    """
    rows = connection.execute(select(round_log.c.parameters, round_log.c.signature).order_by(round_log.c.place))
    return RoundLog(public_key_of(secret), tuple(LogEntry(row.parameters, row.signature) for row in rows))


def append_round(connection: Connection, secret: bytes, round: Round) -> None:
    """Sign a round and add it to the log; in the transaction that opens it, which excludes other openings.

    secret: the operator's key. round: with its final parameters.
    """
    log = read_log(connection, secret).append(round, secret)
    entry = log.entries[-1]
    row = {"place": len(log.entries), "round_id": round.id, "parameters": entry.parameters, "signature": entry.signature}
    connection.execute(insert(round_log).values(row))


def catch_up(store: Store, secret: bytes) -> None:
    """Check that the log is signed with this key, and append the rounds that were opened before there was a log.

    store: the database. secret: the operator's key.
    """
    with store.write() as connection:
        store.one_at_a_time(connection)
        log = read_log(connection, secret)
        try:
            RoundLog.from_bytes(log.to_bytes())
        except ProtocolError:
            raise InputError(
                f"the rounds in database {store} are signed with another key: copy {KEY_FILE} from the data folder of the server "
                "that opened them"
            ) from None
        opened = select(rounds.c.parameters).where(rounds.c.parameters.is_not(None))
        missing = opened.where(rounds.c.id.not_in(select(round_log.c.round_id))).order_by(rounds.c.opens, rounds.c.id)
        for parameters in connection.execute(missing).scalars().all():
            append_round(connection, secret, Round.from_bytes(parameters))
