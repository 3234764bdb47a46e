"""the product -> time, memory and quality, beside its peers."""
