"""The device for a browser: static files that count, randomize and send, and how they are written and checked."""
