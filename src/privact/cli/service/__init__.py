"""commands of an operator: the server, rounds, users, simulated devices."""
