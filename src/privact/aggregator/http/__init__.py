"""requests -> responses."""
