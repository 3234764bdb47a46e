"""data + methods -> the tables and figures of the paper, and ours."""
