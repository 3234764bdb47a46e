"""a file of contacts -> user ids."""
