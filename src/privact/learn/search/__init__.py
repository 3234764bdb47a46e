"""points -> the tree of highest cost."""
