"""code -> reference pages of the documentation, made at every build so that they cannot go stale."""
