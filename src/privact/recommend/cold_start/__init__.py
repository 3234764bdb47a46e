"""tree + report -> items for users without ratings."""
