"""Changes of the tables over time: any older database -> the tables of schema.py."""

from __future__ import annotations

from importlib.resources import files

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from privact.errors import InputError

__all__ = ["is_current", "upgrade"]

_LOCK = 0x50434D47


def upgrade(connection: Connection) -> None:
    """Bring the tables up to date inside the connection's transaction; a database of a newer version is refused.

    connection: in a transaction; two servers that start at once do not disturb each other.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
    found, script = _revision(connection), ScriptDirectory.from_config(_config(connection))
    if found == script.get_current_head():
        return
    if found is not None and found not in {revision.revision for revision in script.walk_revisions()}:
        raise InputError(
            f"the database has tables of revision {found}, which this privact does not know: update privact, or restore a backup"
        )
    command.upgrade(_config(connection), "head")


def is_current(connection: Connection) -> bool:
    """Whether the tables are those of this version."""
    return _revision(connection) == ScriptDirectory.from_config(_config(connection)).get_current_head()


def _revision(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(files(__package__)).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config
