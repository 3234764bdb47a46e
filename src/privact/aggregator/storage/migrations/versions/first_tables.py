"""The first tables."""

from __future__ import annotations

from alembic import op
from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Text,
    UniqueConstraint,
)

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "users",
        Column("digest", LargeBinary(16), nullable=False),
        Column("id", Text, nullable=False),
        Column("token_sha256", LargeBinary(32), nullable=False),
        Column("enrolled", BigInteger, nullable=False),
        Column("serial", BigInteger, nullable=False),
        Column("removed", BigInteger),
        PrimaryKeyConstraint("digest", name="pk_users"),
        UniqueConstraint("id", name="uq_users_id"),
        UniqueConstraint("serial", name="uq_users_serial"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "rounds",
        Column("id", Text, nullable=False),
        Column("state", Text, nullable=False),
        Column("settings", Text, nullable=False),
        Column("parameters", LargeBinary),
        Column("digest", LargeBinary(32)),
        Column("n_users", BigInteger),
        Column("last_serial", BigInteger),
        Column("opens", BigInteger),
        Column("closes", BigInteger),
        Column("joiners_until", BigInteger),
        Column("n_reports", BigInteger, nullable=False, server_default="0"),
        Column("n_joiners", BigInteger, nullable=False, server_default="0"),
        Column("created", BigInteger, nullable=False),
        Column("opened", BigInteger),
        Column("closed", BigInteger),
        Column("released", BigInteger),
        Column("failure", Text),
        Column("search_seed", BigInteger, nullable=False),
        Column("profile", Text, nullable=False),
        Column("stage", Text),
        Column("done", BigInteger, nullable=False, server_default="0"),
        Column("total", BigInteger, nullable=False, server_default="0"),
        PrimaryKeyConstraint("id", name="pk_rounds"),
        CheckConstraint("state IN ('draft', 'open', 'closed', 'learning', 'released', 'failed')", name=op.f("ck_rounds_state")),
    )
    op.create_index("ix_rounds_state", "rounds", ["state"])
    op.create_table(
        "label_tables",
        Column("round_id", Text, nullable=False),
        Column("source", Text),
        Column("bytes", LargeBinary),
        PrimaryKeyConstraint("round_id", name="pk_label_tables"),
        ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_label_tables_round_id"),
    )
    op.create_table(
        "reports",
        Column("round_id", Text, nullable=False),
        Column("user", LargeBinary(16), nullable=False),
        Column("bytes", LargeBinary, nullable=False),
        Column("received", BigInteger, nullable=False),
        Column("late", Boolean, nullable=False),
        PrimaryKeyConstraint("round_id", "user", name="pk_reports"),
        ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_reports_round_id"),
        ForeignKeyConstraint(["user"], ["users.digest"], name="fk_reports_user"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "releases",
        Column("round_id", Text, nullable=False),
        Column("digest", LargeBinary(32), nullable=False),
        Column("n_users", BigInteger, nullable=False),
        Column("released", BigInteger, nullable=False),
        PrimaryKeyConstraint("round_id", name="pk_releases"),
        ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_releases_round_id"),
    )
    op.create_table(
        "operator",
        Column("id", Integer, nullable=False, autoincrement=False),
        Column("token_sha256", LargeBinary(32), nullable=False),
        PrimaryKeyConstraint("id", name="pk_operator"),
        CheckConstraint("id = 1", name=op.f("ck_operator_one")),
    )
