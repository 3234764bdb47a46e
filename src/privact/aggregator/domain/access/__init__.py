"""who may ask for what: tokens, operators and invitations."""
