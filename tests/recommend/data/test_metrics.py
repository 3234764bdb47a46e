from __future__ import annotations

import math

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import AP, nDCG
from scipy.sparse import csr_array

from privact.errors import InputError
from privact.recommend.data.metrics import average_over_cutoffs, score


def relevant(*rows, n_items=8):
    dense = np.zeros((len(rows), n_items))
    for row, items in enumerate(rows):
        dense[row, list(items)] = 0.5  # how high a rating was does not matter
    return csr_array(dense)


def test_by_hand():
    ranked = np.array([[3, 0, 5]])
    found = score(ranked, relevant({3, 5}))
    assert found.ndcg[0] == pytest.approx((1 + 1 / math.log2(4)) / (1 + 1 / math.log2(3)))
    assert found.average_precision[0] == pytest.approx((1 / 1 + 2 / 3) / 2)
    # AP_1 = 1/2, AP_2 = 1/2, AP_3 = (1 + 2/3) / 2
    assert average_over_cutoffs(ranked, relevant({3, 5}))[0] == pytest.approx((0.5 + 0.5 + 5 / 6) / 3)


def test_a_perfect_list_has_1_and_one_without_hits_0_also_where_more_is_hidden_than_listed():
    found = score(np.array([[0, 1], [2, 3], [0, -1]]), relevant({0, 1, 2}, {0, 1}, {0}))
    assert found.ndcg == pytest.approx([1, 0, 1])
    assert found.average_precision == pytest.approx([1, 0, 1])
    assert (found.mean_ndcg, found.mean_average_precision) == pytest.approx((2 / 3, 2 / 3))


def test_the_end_of_a_list_is_never_a_hit():
    found = score(np.array([[-1, -1], [1, -1]]), relevant({7}, {0}))
    assert found.ndcg.tolist() == [0, 0]


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 12))
def test_as_trec_eval_has_it(seed, k):
    rng = np.random.default_rng(seed)
    n_users, n_items = 4, 15
    hidden = [set(rng.choice(n_items, rng.integers(1, n_items), replace=False).tolist()) for _ in range(n_users)]
    ranked = np.array([rng.permutation(n_items)[:k] for _ in range(n_users)])
    ours = score(ranked, relevant(*hidden, n_items=n_items))
    judged = [ir_measures.Qrel(str(user), str(item), 1) for user, items in enumerate(hidden) for item in items]
    run = [
        ir_measures.ScoredDoc(str(u), str(item), float(k - place)) for u in range(n_users) for place, item in enumerate(ranked[u])
    ]
    theirs = {(m.query_id, str(m.measure)): m.value for m in ir_measures.iter_calc([nDCG @ k, AP @ k], judged, run)}
    for user, items in enumerate(hidden):
        assert ours.ndcg[user] == pytest.approx(theirs[str(user), f"nDCG@{k}"])
        # trec_eval divides by all hidden items, we by as many of them as the list could hold.
        assert ours.average_precision[user] * min(len(items), k) == pytest.approx(theirs[str(user), f"AP@{k}"] * len(items))


@pytest.mark.parametrize(
    ("ranked", "hidden", "told"),
    [
        ([[0, 1]], [{1}, {2}], "lists of shape"),
        ([[]], [{1}], "lists of shape"),
        ([[8]], [{1}], "items go from 8 to 8"),
        ([[-2]], [{1}], "items go from -2"),
        ([[0], [1]], [{1}, set()], "user 1 has no hidden rating"),
        (np.empty((0, 3)), [], "there are 0 users to judge: give the lists of at least one"),
    ],
)
def test_what_cannot_be_judged_is_one_line(ranked, hidden, told):
    with pytest.raises(InputError, match=told):
        score(np.array(ranked, dtype=np.int64), relevant(*hidden))
