"""files -> whole contact graphs, for experiments only."""
