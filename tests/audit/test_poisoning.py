"""Poisoning: attacks that are what they say, and measures that are right on trees one can draw."""

from __future__ import annotations

import numpy as np
import pytest

from privact.audit.poisoning import ATTACKS, attack_reports, measure, measure_poisoning, restrict_tree, synthetic_setting
from privact.errors import InputError
from privact.tree.hct import HierarchicalClusterTree

REPORTS = np.arange(40).reshape(10, 4)


def after(attack: str, hostile: list[int], victim: int = 9) -> np.ndarray:
    return attack_reports(REPORTS, attack, np.array(hostile), victim, np.random.default_rng(0))


@pytest.mark.parametrize("attack", ATTACKS)
def test_only_hostile_reports_change(attack: str) -> None:
    changed = after(attack, [2, 5])
    assert np.flatnonzero((changed != REPORTS).any(axis=1)).tolist() == [2, 5]


def test_attacks_are_what_they_say() -> None:
    assert np.abs(after("huge", [0, 1])[:2]).min() > 10**6
    assert after("in range", [0, 1])[:2].sum(axis=1).tolist() == [9, 9]
    assert np.sort(after("one bin", [3])[3]).tolist() == [0, 0, 0, 9]
    assert after("clones", [0, 4])[[0, 4]].tolist() == [REPORTS[9].tolist()] * 2
    with pytest.raises(InputError, match="'bribe' is unknown"):
        after("bribe", [0])


def test_a_restricted_tree_joins_who_is_left_as_before() -> None:
    tree = HierarchicalClusterTree.from_nested(((((0, 1), 2), 3), ((4, 5), (6, 7))))
    kept = restrict_tree(tree, np.array([0, 2, 3, 5, 6, 7]))
    assert kept == HierarchicalClusterTree.from_nested((((0, 1), 2), (3, (4, 5))))
    assert restrict_tree(tree, np.arange(8)) == tree
    assert restrict_tree(tree, np.array([3])).n_users == 1


def test_one_run_measures_every_cell_and_in_range_reports_are_the_same_clamped() -> None:
    setting = synthetic_setting(200, 2.0, 0)
    found = list(measure(setting, np.random.default_rng(0), 0, shares=(0.05,), ways=("reports",)))
    assert [(one.attack, one.clamped) for one in found] == [(attack, clamped) for attack in ATTACKS for clamped in (False, True)]
    for sent, clamped in zip(found[2::2], found[3::2], strict=True):  # all but huge
        assert (sent.loss, sent.contacts, sent.clones) == (clamped.loss, clamped.contacts, clamped.clones)
    assert [one.clones is not None for one in found] == [False] * 6 + [True] * 2


def test_the_same_seed_gives_the_same_table_and_no_seeds_are_refused() -> None:
    with pytest.raises(InputError, match="seeds is 0"):
        measure_poisoning(n_users=150, seeds=0)
    run = [
        list(measure(synthetic_setting(150, 1.0, 3), np.random.default_rng(3), 3, shares=(0.1,), ways=("reports",))) for _ in "ab"
    ]
    assert run[0] == run[1]
