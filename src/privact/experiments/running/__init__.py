"""What experiments are run with: networks, rounds, finished parts that are kept, tests of significance."""
