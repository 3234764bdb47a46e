"""tree + user -> close communities, nearest users, and how good they are."""
