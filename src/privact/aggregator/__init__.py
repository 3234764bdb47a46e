"""reports -> closed round -> released tree."""
