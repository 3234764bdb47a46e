"""The tables: who is enrolled, which rounds there are, and the reports. Nothing finer than a second is kept, and no address.

Times are UTC seconds since 1970. A change here needs a migration beside it (migrations/versions); a test compares both.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    true,
)

__all__ = [
    "STATES",
    "VISIBILITIES",
    "invitations",
    "label_tables",
    "metadata",
    "operator_actions",
    "operators",
    "pending_erasures",
    "releases",
    "report_counts",
    "reports",
    "round_log",
    "rounds",
    "series",
    "users",
]

STATES: Final = ("draft", "open", "closed", "learning", "released", "failed")
"""The states of a round, in the order in which it passes them; it ends in one of the last two. Only a
failed round goes back, to closed, when the operator asks to learn it again."""

VISIBILITIES: Final = ("public", "users", "operator")
"""Who may read what is derived from a round: everybody, users and operators, or operators alone."""

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)
"""All tables."""

users = Table(
    "users",
    metadata,
    Column("digest", LargeBinary(16), primary_key=True),  # user_digest(id): what a report and a token name
    Column("id", Text, nullable=False, unique=True),  # normalised
    Column("token_sha256", LargeBinary(32), nullable=False),  # of the whole token; the token itself is kept nowhere
    Column("enrolled", BigInteger, nullable=False),
    Column("serial", BigInteger, nullable=False, unique=True),  # ascends with every enrolment: 1, 2, ...
    Column(
        "discoverable", Boolean(create_constraint=False), nullable=False, server_default=true()
    ),  # may be recommended to others
    Column("removed", BigInteger),  # set: the token is dead and no future round counts this user; reports stay
    sqlite_with_rowid=False,
)
"""Everyone who was ever enrolled. Who was removed and is enrolled again gets a new serial, as a new user would."""

invitations = Table(
    "invitations",
    metadata,
    Column("user", LargeBinary(16), ForeignKey("users.digest"), primary_key=True),
    Column("sha256", LargeBinary(32), nullable=False),  # of the whole code; the code itself is kept nowhere
    Column("made", BigInteger, nullable=False),
    Column("used", BigInteger),  # set: the user has chosen a token, and the code is worthless
    sqlite_with_rowid=False,
)
"""The last invitation of each user who was invited."""

pending_erasures = Table(
    "pending_erasures",
    metadata,
    Column("id", Text, primary_key=True),  # normalised
    Column("asked", BigInteger, nullable=False),
)
"""Users who are erased but for labels that an open round fixes, or a tree that is being learned; see domain/erasure."""

rounds = Table(
    "rounds",
    metadata,
    Column("id", Text, primary_key=True),
    Column("state", Text, nullable=False),
    Column("settings", Text, nullable=False),  # JSON as posted
    Column("parameters", LargeBinary),  # canonical bytes of the Round; from the opening on
    Column("digest", LargeBinary(32)),  # Round.digest()
    Column("n_users", BigInteger),  # enrolled when the round was opened; Round.n_users
    Column("last_serial", BigInteger),  # users with a serial up to this were enrolled at the opening; later ones are joiners
    Column("opens", BigInteger),  # Round.opens
    Column("closes", BigInteger),  # Round.closes
    Column("joiners_until", BigInteger),  # Round.closes + Round.joiner_seconds: first second without joiners
    Column("n_reports", BigInteger, nullable=False, server_default="0"),  # with those of report_counts: reports with late false
    Column("n_joiners", BigInteger, nullable=False, server_default="0"),  # with those of report_counts: reports with late true
    Column("created", BigInteger, nullable=False),
    Column("opened", BigInteger),
    Column("closed", BigInteger),
    Column("released", BigInteger),
    Column("failure", Text),  # one line; only in state failed
    Column("search_seed", BigInteger, nullable=False),
    Column("profile", Text, nullable=False),  # "counts" or "shares"
    Column("stage", Text),  # progress of learning: what is done, how much of it, and of how much
    Column("done", BigInteger, nullable=False, server_default="0"),
    Column("total", BigInteger, nullable=False, server_default="0"),
    Column("lease_holder", Text),  # the server that learns the round now
    Column("lease_until", BigInteger),  # by the database's clock; from then on another server may take the round over
    Column("visibility", Text, nullable=False, server_default="public"),  # who may read the release: public, users, operator
    Column("series", Text),  # name of the series that the round is one of
    Column("series_number", BigInteger),  # its place in the series, from 1
    Column("evidence", Text),  # JSON: what was inferred from the series up to this round, once it was
    CheckConstraint(f"state IN ({', '.join(repr(state) for state in STATES)})", name="state"),
    Index(None, "state"),
)
"""Rounds. States change only by `UPDATE ... WHERE id = :id AND state = :from`."""

series = Table(
    "series",
    metadata,
    Column("name", Text, primary_key=True),
    Column("settings", Text, nullable=False),  # JSON as posted
    Column("created", BigInteger, nullable=False),
    Column("stopped", BigInteger),  # from then on no further round is opened
)
"""Series of rounds. Each round of a series is a row of rounds; the next one is added when the one before it was closed."""

label_tables = Table(
    "label_tables",
    metadata,
    Column("round_id", Text, ForeignKey("rounds.id"), primary_key=True),
    Column("source", Text),  # JSON {user: label}, while the round is a draft: the key is drawn at the opening
    Column("bytes", LargeBinary),  # canonical bytes of the LabelTable; from the opening on
    Column("names", Text),  # JSON list of the labels' names by number, from the opening on; none of rounds opened before 0004
)
"""The public labels of rounds whose bins are labels."""

reports = Table(
    "reports",
    metadata,
    Column("round_id", Text, ForeignKey("rounds.id"), primary_key=True),
    Column("user", LargeBinary(16), ForeignKey("users.digest"), primary_key=True),
    Column("bytes", LargeBinary, nullable=False),  # canonical bytes of the Report, as received
    Column("received", BigInteger, nullable=False),
    Column(
        "late", Boolean(create_constraint=False), nullable=False
    ),  # of a joiner: placed in the released tree, never learned from
    sqlite_with_rowid=False,
)
"""One report per round and user."""

report_counts = Table(
    "report_counts",
    metadata,
    Column("round_id", Text, ForeignKey("rounds.id"), primary_key=True),
    Column("slot", Integer, primary_key=True, autoincrement=False),  # drawn by a server when it starts
    Column("n_reports", BigInteger, nullable=False),
    Column("n_joiners", BigInteger, nullable=False),
)
"""How many reports servers have taken. Each server counts in a row of its own, so that none waits for another's commit."""

releases = Table(
    "releases",
    metadata,
    Column("round_id", Text, ForeignKey("rounds.id"), primary_key=True),
    Column("digest", LargeBinary(32), nullable=False),  # SHA-256 of <data folder>/releases/<round id>.hct
    Column("n_users", BigInteger, nullable=False),  # leaves of the tree
    Column("released", BigInteger, nullable=False),
)
"""Released trees; each is a file in the data folder."""

shared_files = Table(
    "shared_files",
    metadata,
    Column("name", Text, primary_key=True),  # path in the data folder
    Column("digest", LargeBinary(32), nullable=False),  # SHA-256; empty if the file was deleted
)
"""Files of the data folder that every server on a PostgreSQL database has: releases, evidence and ratings."""

shared_parts = Table(
    "shared_parts",
    metadata,
    Column("name", Text, ForeignKey("shared_files.name"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),  # 0, 1, ...
    Column("bytes", LargeBinary, nullable=False),
)
"""The bytes of shared files, a mebibyte a row."""

round_log = Table(
    "round_log",
    metadata,
    Column("place", BigInteger, primary_key=True, autoincrement=False),  # 1, 2, ... in the order of opening
    Column("round_id", Text, ForeignKey("rounds.id"), nullable=False, unique=True),
    Column("parameters", LargeBinary, nullable=False),  # canonical bytes of the Round
    Column("signature", LargeBinary, nullable=False),  # of the log up to here, by the operator's key
)
"""The signed log of opened rounds; rows are only ever added."""

operators = Table(
    "operators",
    metadata,
    Column("name", Text, primary_key=True),
    Column("token_sha256", LargeBinary(32), nullable=False),
    Column("scopes", Text, nullable=False),  # some of SCOPES, separated by commas
    Column("created", BigInteger, nullable=False),
    Column("expires", BigInteger),  # first second in which the token is worthless
)
"""Who operates: one row for each token."""

operator_actions = Table(
    "operator_actions",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("at", BigInteger, nullable=False),
    Column("operator", Text, nullable=False),  # name of the token
    Column("action", Text, nullable=False),  # method and route
    Column("subject", Text, nullable=False),  # what it was about, such as a round's id
    Column("status", Integer, nullable=False),  # of the response
)
"""What operators did: every request of theirs that could change something."""
