"""reports -> what they say about the true counts -> points."""
