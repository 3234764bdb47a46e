"""what a device has spent and sent, on disk."""
