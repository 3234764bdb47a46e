"""work beside the server: learning trees, placing late joiners."""
