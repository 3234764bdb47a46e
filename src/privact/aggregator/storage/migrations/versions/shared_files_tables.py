"""Files that several servers share through the database."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, ForeignKeyConstraint, Integer, LargeBinary, PrimaryKeyConstraint, Text

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the tables of shared files; a server adds the files that it has when it starts."""
    op.create_table(
        "shared_files",
        Column("name", Text, nullable=False),
        Column("digest", LargeBinary(32), nullable=False),
        PrimaryKeyConstraint("name", name="pk_shared_files"),
    )
    op.create_table(
        "shared_parts",
        Column("name", Text, nullable=False),
        Column("number", Integer, nullable=False, autoincrement=False),
        Column("bytes", LargeBinary, nullable=False),
        PrimaryKeyConstraint("name", "number", name="pk_shared_parts"),
        ForeignKeyConstraint(["name"], ["shared_files.name"], name="fk_shared_parts_name"),
    )
