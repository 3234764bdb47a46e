"""any number of users -> parts, learned on any engine -> one tree."""
