"""what a round, a user and a release are, and what may happen to them."""
