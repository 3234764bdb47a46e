"""requests -> responses: one module per noun."""
