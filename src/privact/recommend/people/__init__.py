"""tree + reports -> users whom a user may know."""
