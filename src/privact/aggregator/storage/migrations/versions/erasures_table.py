"""Erasures that have to wait for the end of a round."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column, PrimaryKeyConstraint, Text

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table of erasures that are not complete."""
    op.create_table(
        "pending_erasures",
        Column("id", Text, nullable=False),
        Column("asked", BigInteger, nullable=False),
        PrimaryKeyConstraint("id", name="pk_pending_erasures"),
    )
