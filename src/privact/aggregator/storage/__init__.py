"""the database: tables, migrations, reports."""
