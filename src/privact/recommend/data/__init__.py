"""files of ratings -> matrix, splits, and scores of ranked lists."""
