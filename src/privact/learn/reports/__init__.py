"""files and batches of reports -> one table of reports."""
