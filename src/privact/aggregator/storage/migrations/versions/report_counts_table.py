"""Counts of reports by server, so that servers do not wait for each other's commits."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column, ForeignKeyConstraint, Integer, PrimaryKeyConstraint, Text

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table of counts; what was counted before stays in the rows of rounds."""
    op.create_table(
        "report_counts",
        Column("round_id", Text, nullable=False),
        Column("slot", Integer, nullable=False, autoincrement=False),
        Column("n_reports", BigInteger, nullable=False),
        Column("n_joiners", BigInteger, nullable=False),
        ForeignKeyConstraint(["round_id"], ["rounds.id"], name="fk_report_counts_round_id"),
        PrimaryKeyConstraint("round_id", "slot", name="pk_report_counts"),
    )
