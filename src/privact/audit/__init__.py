"""mechanism -> empirical bound on what it leaks."""
