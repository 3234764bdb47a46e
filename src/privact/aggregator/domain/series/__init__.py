"""series of rounds: their life, and what everybody may know about them."""
