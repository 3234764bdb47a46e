"""Requests -> answers: one module per noun."""
