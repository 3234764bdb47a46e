"""The chain of CMN for reading: the plain twin of _cmn.py, draw for draw.

Trees, local swaps and the chain itself are those of GenTree (tree/swap.py). Only the objective differs: with the adjacency
matrix in the place of dissimilarities, W(A, B) is the number of edges E between A and B, and a node adds
E log pi + (LR - E) log(1 - pi) to log C_M instead of (L + R) W to Dasgupta's cost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from privact.baselines._cmn import TIE
from privact.learn.search.swaps import PlainSearch


class PlainChain(PlainSearch):
    """A tree in the chain in plain Python.

    dissimilarity: the adjacency matrix: 1 at [x][y] where user x and user y know each other, else 0.
    left, right, parent: as in every PlainSearch.
    """

    def log_term(self, a: Sequence[int], b: Sequence[int]) -> float:
        """What a node with these users left and right adds to log C_M."""
        edges, pairs = self.across(a, b), len(a) * len(b)
        if edges in (0, pairs):
            return 0.0
        return edges * math.log(edges / pairs) + (pairs - edges) * math.log(1 - edges / pairs)

    def gain(self, node: int, right_moves: bool) -> float:
        """How much log C_M rises if the node's right (or left) child changes places with the node's sibling."""
        a, b, c = self.leaves(self.left[node]), self.leaves(self.right[node]), self.leaves(self.sibling(node))
        stays, moves = (a, b) if right_moves else (b, a)
        before = self.log_term(stays, moves) + self.log_term(stays + moves, c)
        gain = self.log_term(stays, c) + self.log_term(stays + c, moves) - before
        return 0.0 if abs(gain) < TIE else gain

    def cost(self) -> float:
        """log C_M by its definition."""
        nodes = (pair for pair in zip(self.left, self.right, strict=True) if pair[0] >= 0)
        return sum(self.log_term(self.leaves(a), self.leaves(b)) for a, b in nodes)
