"""An aggregator under load -> reports a second, response times, memory."""
