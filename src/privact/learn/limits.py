"""The numbers of users, rows and bytes at which learning changes its method or starts another task."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LIMITS", "Limits"]


@dataclass(frozen=True)
class Limits:
    """Where learning switches methods as the number of users grows, and how large its tasks are.

    exact_start: up to this many users the default search starts from average linkage of all pairs; beyond, from parts.
    both_tie_orders: up to this many users the default search tries two orders of equal dissimilarities, and polishes until
        nothing is gained.
    matrix: the most users of a dense matrix of dissimilarities.
    linkage: the most users that average linkage accepts; it keeps n^2 / 2 numbers.
    part: the most users of one part, which one task learns and one worker keeps in memory.
    part_linkage: up to this many users a branch of a part is average linkage of all its pairs.
    sketch_sample: users that a sketch is learned on.
    split_sample: users that the splits of a large group are found on, under the balance floor.
    largest_split_sample: the same for the largest groups, of which one user in a hundred is drawn in between.
    routed: users that one task assigns to their parts.
    summed: users whose points one task adds up.
    top_bytes: memory for the sums of the clusters at the top of a tree, which are polished last.
    copied: rows that are read at a time to be written in another order.
    posterior_sample: the most users, evenly spaced, that distributions of rates, contacts and lifts are estimated from.
    series_sample: the most users that the groups of a series are learned from; all others are then given theirs.
    one_process: up to this many users starting worker processes takes longer than they save.
    streamed_bytes: edge lists above this size are counted in little memory; a graph takes several times its text.
    noisy: users whose noise is drawn at a time, where a whole network is simulated in little memory.
    utility: up to this many users the command line also computes the relative utility on the exact counts.
    """

    exact_start: int = 5_000
    both_tie_orders: int = 1_000
    matrix: int = 5_000
    linkage: int = 20_000
    part: int = 20_000
    part_linkage: int = 1_000
    sketch_sample: int = 2_000
    split_sample: int = 8_000
    largest_split_sample: int = 64_000
    routed: int = 16_384
    summed: int = 16_384
    top_bytes: int = 2**28
    copied: int = 1 << 20
    posterior_sample: int = 20_000
    series_sample: int = 20_000
    one_process: int = 50_000
    streamed_bytes: int = 1 << 28
    noisy: int = 1 << 18
    utility: int = 20_000

    def split_sample_of(self, group: int) -> int:
        """How many users the splits of a group are found on.

        A larger sample may come nearer to the floor, which costs utility in the largest clusters; a small group gains nothing.
        """
        return max(self.split_sample, min(self.largest_split_sample, group // 100))


LIMITS = Limits()
"""The limits of the product."""
