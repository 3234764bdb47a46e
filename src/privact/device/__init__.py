"""contacts + round -> report. The only package that may see an edge."""
