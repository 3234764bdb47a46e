"""tree + ratings -> recommendations."""
