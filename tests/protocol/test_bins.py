"""Bins: the same user falls in the same bin everywhere, and random bins are really random."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from privact.errors import InputError, ProtocolError
from privact.protocol.bins import assign_bins, assign_round_bins, bin_of
from privact.protocol.labels import LabelTable
from privact.protocol.round import Round

USERS = [f"user{number}@server{number % 5}.example" for number in range(20_000)]


def random_round(n_bins: int, seed: bytes = bytes(16)) -> Round:
    return Round(id="r", epsilon=1.0, n_bins=n_bins, n_users=10**6, seed=seed)


@given(
    st.text(alphabet="abcdefgh.@_0123456789", min_size=1, max_size=30),
    st.binary(min_size=16, max_size=32),
    st.integers(1, 10_000),
)
def test_bin_is_the_documented_hash(user: str, seed: bytes, n_bins: int) -> None:
    normal = user.lstrip("@")
    if not normal:
        with pytest.raises(InputError):
            bin_of(user, random_round(n_bins, seed))
        return
    number = int.from_bytes(hashlib.blake2b(normal.encode(), digest_size=8, key=seed).digest(), "big")
    assert bin_of(user, random_round(n_bins, seed)) == number % n_bins


def test_every_spelling_falls_in_one_bin() -> None:
    round = random_round(1000)
    assert len({bin_of(user, round) for user in ("ada@s.example", "@Ada@S.example", " ADA@S.EXAMPLE ")}) == 1


def test_many_users_at_once_fall_where_each_falls_alone() -> None:
    round = random_round(13)
    assert assign_round_bins(USERS[:200], round).tolist() == [bin_of(user, round) for user in USERS[:200]]
    assert assign_round_bins([], round).shape == (0,)


def test_random_bins_are_even_and_a_lopsided_assignment_would_be_noticed() -> None:
    def probability(bins: np.ndarray) -> float:
        counts = np.bincount(bins, minlength=13)
        expected = len(bins) / 13
        return float(chi2.sf(((counts - expected) ** 2 / expected).sum(), df=12))

    bins = assign_round_bins(USERS, random_round(13))
    assert probability(bins) > 1e-4  # nothing random here: seed and users are fixed
    assert probability(np.where(np.arange(len(bins)) % 10 == 0, 0, bins)) < 1e-12


def test_another_seed_is_another_partition() -> None:
    one, other = (assign_round_bins(USERS, random_round(10, seed)) for seed in (bytes(16), bytes(15) + b"\x01"))
    assert abs(np.mean(one == other) - 0.1) < 5 * np.sqrt(0.09 / len(USERS))


def test_label_bins_come_from_the_rounds_own_table() -> None:
    table = LabelTable.from_labels({"ada": 0, "bob": 1}, 2, key=bytes(16))
    other = LabelTable.from_labels({"ada": 1, "bob": 1}, 2, key=bytes(16))
    round = Round(id="r", epsilon=1.0, n_bins=2, n_users=9, bins="labels", labels_digest=table.digest())
    assert assign_round_bins(["@Bob", "nobody", "ada"], round, table).tolist() == [1, -1, 0]
    assert bin_of("nobody", round, table) == -1
    with pytest.raises(ProtocolError, match="is not that of round r"):
        bin_of("ada", round, other)
    with pytest.raises(ProtocolError, match="download its label table"):
        bin_of("ada", round)
    with pytest.raises(ProtocolError, match="takes no label table"):
        bin_of("ada", random_round(2), table)
    uneven = Round(id="r", epsilon=1.0, n_bins=3, n_users=9, bins="labels", labels_digest=table.digest())
    with pytest.raises(ProtocolError, match="2 labels but round r has 3 bins"):
        bin_of("ada", uneven, table)


def test_random_bins_need_only_a_seed_and_a_number_of_bins():
    round = random_round(13)
    assert assign_bins(USERS, round.seed, 13).tolist() == assign_round_bins(USERS, round).tolist()


@pytest.mark.parametrize(("seed", "n_bins", "named"), [(b"short", 3, "seed is 5 bytes"), (bytes(16), 0, "n_bins is 0")])
def test_a_short_seed_or_no_bins_are_refused(seed, n_bins, named):
    with pytest.raises(ProtocolError, match=named):
        assign_bins(USERS, seed, n_bins)
