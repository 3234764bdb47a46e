"""reports of several rounds -> groups of users -> the bins of the next round, and points of the tree."""
