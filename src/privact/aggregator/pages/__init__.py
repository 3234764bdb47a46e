"""A released round -> what a person sees of it in a browser."""
