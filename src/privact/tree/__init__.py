"""vectors -> hierarchical cluster tree."""
