"""Names of the labels of a round, for pages and pictures."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, Text

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add a column; rounds that were opened before have labels without names."""
    op.add_column("label_tables", Column("names", Text))
