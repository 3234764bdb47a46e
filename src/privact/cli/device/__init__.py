"""commands of a person who takes part."""
