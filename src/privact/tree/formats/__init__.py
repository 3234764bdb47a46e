"""tree <-> files and other libraries."""
