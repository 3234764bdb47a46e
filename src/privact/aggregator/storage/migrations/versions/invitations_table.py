"""Invitations: who may choose a token, once."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column, ForeignKeyConstraint, LargeBinary, PrimaryKeyConstraint

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table of invitations."""
    op.create_table(
        "invitations",
        Column("user", LargeBinary(16), nullable=False),
        Column("sha256", LargeBinary(32), nullable=False),
        Column("made", BigInteger, nullable=False),
        Column("used", BigInteger),
        PrimaryKeyConstraint("user", name="pk_invitations"),
        ForeignKeyConstraint(["user"], ["users.digest"], name="fk_invitations_user"),
        sqlite_with_rowid=False,
    )
