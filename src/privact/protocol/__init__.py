"""What a device and an aggregator agree on: user id + round -> bin; noisy counts <-> report bytes."""
