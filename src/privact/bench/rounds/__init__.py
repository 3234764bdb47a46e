"""A series of rounds -> what it finds beside controls, and what inference takes on a million users."""
