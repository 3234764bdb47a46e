from __future__ import annotations

import numpy as np
import pytest

from privact.errors import InputError
from privact.learn.search.balance import BALANCE, FEW, check_balance, compute_floors, floor_of


def test_the_first_split_is_held_to_the_balance():
    assert floor_of(10_000, 10_000, 0.03) == 300


def test_a_smaller_cluster_is_held_to_a_larger_share():
    # half of everybody: 2^2 = 4 times the share
    assert floor_of(5_000, 10_000, 0.03) == 0.12 * 5_000


def test_small_clusters_are_held_to_a_quarter_and_to_sides_of_fifty():
    assert floor_of(2_000, 100_000, 0.03) == 500
    assert floor_of(199, 100_000, 0.03) == 50
    assert floor_of(150, 100_000, 0.03) == 50
    assert floor_of(149, 100_000, 0.03) == 38
    assert floor_of(25, 100_000, 0.03) == 7


def test_with_many_users_all_large_clusters_are_held_to_sides_of_fifty():
    assert floor_of(1_000, 1_000, 0.03) == 50
    assert floor_of(999, 999, 0.03) == 30


def test_a_few_users_split_in_any_way():
    assert {floor_of(size, 10_000, 0.5) for size in range(2, FEW + 1)} == {1}


def test_without_balance_there_is_no_floor():
    assert compute_floors(500, 1_000, 0.0).tolist() == [1] * 501


@pytest.mark.parametrize("balance", [0.01, BALANCE, 0.1, 0.3, 0.5])
@pytest.mark.parametrize("n_users", [30, 400, 1_200, 5_000])
def test_the_table_is_the_rule(n_users, balance):
    table = compute_floors(n_users, n_users, balance)
    assert table[1:].tolist() == [floor_of(size, n_users, balance) for size in range(1, n_users + 1)]


@pytest.mark.parametrize("balance", [0.01, BALANCE, 0.5])
def test_the_floor_can_always_be_kept(balance):
    size = np.arange(2, 3_001)
    assert (2 * compute_floors(3_000, 3_000, balance)[2:] <= size).all()


@pytest.mark.parametrize("balance", [-0.1, 0.51, float("nan"), True, "even"])
def test_what_is_no_share_is_refused(balance):
    with pytest.raises(InputError, match=r"is not a share from 0 to 0\.5"):
        check_balance(balance)
