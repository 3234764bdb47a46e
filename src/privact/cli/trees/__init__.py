"""commands that learn, query, draw, convert and use trees."""
