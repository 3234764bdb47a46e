"""Whether a user may be recommended to others."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Boolean, Column, true

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Everybody who is enrolled is discoverable until they say otherwise."""
    op.add_column("users", Column("discoverable", Boolean(create_constraint=False), nullable=False, server_default=true()))
