"""commands that measure: datasets, experiments, benchmarks, audits."""
