"""Leases of learning, visibility of releases, the signed log of rounds, named operators and what they did."""

from __future__ import annotations

from alembic import op
from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKeyConstraint,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Text,
    UniqueConstraint,
    text,
)

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add columns and tables; the one operator becomes the first of several, with every scope."""
    op.add_column("rounds", Column("lease_holder", Text))
    op.add_column("rounds", Column("lease_until", BigInteger))
    op.add_column("rounds", Column("visibility", Text, nullable=False, server_default="public"))
    op.create_table(
        "round_log",
        Column("place", BigInteger, nullable=False, autoincrement=False),
        Column("round_id", Text, nullable=False),
        Column("parameters", LargeBinary, nullable=False),
        Column("signature", LargeBinary, nullable=False),
        PrimaryKeyConstraint("place", name="pk_round_log"),
        UniqueConstraint("round_id", name="uq_round_log_round_id"),
        ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_round_log_round_id"),
    )
    op.create_table(
        "operators",
        Column("name", Text, nullable=False),
        Column("token_sha256", LargeBinary(32), nullable=False),
        Column("scopes", Text, nullable=False),
        Column("created", BigInteger, nullable=False),
        Column("expires", BigInteger),
        PrimaryKeyConstraint("name", name="pk_operators"),
    )
    op.create_table(
        "operator_actions",
        Column("id", Integer, nullable=False, autoincrement=True),
        Column("at", BigInteger, nullable=False),
        Column("operator", Text, nullable=False),
        Column("action", Text, nullable=False),
        Column("subject", Text, nullable=False),
        Column("status", Integer, nullable=False),
        PrimaryKeyConstraint("id", name="pk_operator_actions"),
    )
    op.execute(
        text(
            "INSERT INTO operators (name, token_sha256, scopes, created) "
            "SELECT 'operator', token_sha256, 'read,rounds,users,operators', 0 FROM operator"
        )
    )
    op.drop_table("operator")
