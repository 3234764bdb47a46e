"""Series of rounds: what was agreed on, and which rounds belong to one."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column, PrimaryKeyConstraint, Text

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table of series, and to rounds their place in one; the rounds that are there are in none."""
    op.create_table(
        "series",
        Column("name", Text, nullable=False),
        Column("settings", Text, nullable=False),
        Column("created", BigInteger, nullable=False),
        Column("stopped", BigInteger),
        PrimaryKeyConstraint("name", name="pk_series"),
    )
    op.add_column("rounds", Column("series", Text))
    op.add_column("rounds", Column("series_number", BigInteger))
    op.add_column("rounds", Column("evidence", Text))
