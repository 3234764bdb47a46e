"""made-up networks and devices, for experiments, tests and the demo."""
