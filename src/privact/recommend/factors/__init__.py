"""ratings -> factors of users and items."""
