"""reports -> hierarchical cluster tree."""
