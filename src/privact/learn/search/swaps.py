"""A local swap and its gain, for reading: the plain twin of _swaps.py, draw for draw.

Node {A, B} with sibling C stands in three arrangements: {A,B} with C, {A,C} with B, {B,C} with A. Going from the first to
the second changes Dasgupta's cost by

    gain = |C| W(A, B) - |B| W(A, C)

because only these two sums change the size of the cluster they are weighted with: W(A, B) moves up from |A|+|B| to
|A|+|B|+|C| and W(A, C) moves down from that to |A|+|C|. Here W is what its definition says, a sum over pairs of users; the
kernels keep sums instead and visit no pair.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass
class PlainSearch:
    """A tree under search in plain Python.

    dissimilarity: of user x and user y at [x][y].
    left, right: children of each node, -1 at a leaf; leaves are 0 to n-1, the root is 2n-2.
    parent: the node above, -1 at the root.
    """

    dissimilarity: Sequence[Sequence[float]]
    left: list[int]
    right: list[int]
    parent: list[int]

    @classmethod
    def of(cls, dissimilarity: Sequence[Sequence[float]], left: Sequence[int], right: Sequence[int]) -> PlainSearch:
        """The search state of a tree whose internal node n+i has the children left[i] and right[i]."""
        n = len(dissimilarity)
        parent = [-1] * (2 * n - 1)
        for i, (a, b) in enumerate(zip(left, right, strict=True)):
            parent[a] = parent[b] = n + i
        return cls(dissimilarity, [-1] * n + list(left), [-1] * n + list(right), parent)

    def leaves(self, node: int) -> list[int]:
        """The users below a node."""
        found, waiting = [], [node]
        while waiting:
            node = waiting.pop()
            if self.left[node] < 0:
                found.append(node)
            else:
                waiting += [self.left[node], self.right[node]]
        return found

    def sibling(self, node: int) -> int:
        """The other child of the node above."""
        above = self.parent[node]
        return self.right[above] if self.left[above] == node else self.left[above]

    def across(self, a: Sequence[int], b: Sequence[int]) -> float:
        """W(A, B): the sum of dissimilarities across two clusters."""
        return sum(self.dissimilarity[x][y] for x in a for y in b)

    def gain(self, node: int, right_moves: bool) -> float:
        """How much Dasgupta's cost rises if the node's right (or left) child changes places with the node's sibling."""
        a, b, c = self.leaves(self.left[node]), self.leaves(self.right[node]), self.leaves(self.sibling(node))
        stays, moves = (a, b) if right_moves else (b, a)
        return len(c) * self.across(a, b) - len(moves) * self.across(stays, c)

    def swap(self, node: int, right_moves: bool) -> None:
        """Exchange the node's right (or left) child with the node's sibling."""
        above, c = self.parent[node], self.sibling(node)
        child = self.right if right_moves else self.left
        moves, child[node] = child[node], c
        if self.left[above] == c:
            self.left[above] = moves
        else:
            self.right[above] = moves
        self.parent[c], self.parent[moves] = node, above

    def cost(self) -> float:
        """Dasgupta's cost by its definition: each pair of users weighs the size of the smallest cluster holding both."""
        total = 0.0
        for node, (a, b) in enumerate(zip(self.left, self.right, strict=True)):
            if a >= 0:
                total += len(self.leaves(node)) * self.across(self.leaves(a), self.leaves(b))
        return total

    def run(self, steps: int, temperature: float, rng: np.random.Generator) -> int:
        """Metropolis-Hastings: one of two swaps at a random node, taken with min(1, exp(gain / temperature))."""
        n = len(self.dissimilarity)
        taken = 0
        for _ in range(steps):
            draw = int(rng.random() * (2 * (n - 2)))
            node, right_moves = n + draw // 2, draw % 2 == 0
            gain = self.gain(node, right_moves)
            if gain < 0.0 and (temperature <= 0.0 or rng.random() >= math.exp(gain / temperature)):
                continue
            self.swap(node, right_moves)
            taken += 1
        return taken
