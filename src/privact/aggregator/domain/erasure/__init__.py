"""erasure and retention: what is held about a person -> gone, but for a leaf without a name."""
