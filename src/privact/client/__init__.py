"""requests to an aggregator, for devices and for operators."""
