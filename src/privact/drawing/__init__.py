"""tree -> pictures, and the page of the explorer."""
