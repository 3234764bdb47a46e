"""Steps through contacts: a path whose distances are visible, the plain twin, and SciPy's shortest paths."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from privact.query.paths import plain_steps, steps_to


def rows(n_users, edges):
    """Row pointers and columns of some contacts."""
    dense = np.zeros((n_users, n_users), np.int64)
    for one, other in edges:
        dense[one, other] = dense[other, one] = 1
    matrix = csr_array(dense)
    return matrix.indptr.astype(np.int64), matrix.indices


def test_on_a_path_everybody_is_as_far_as_their_numbers_differ():
    indptr, contacts = rows(6, [(0, 1), (1, 2), (2, 3), (3, 4)])  # nobody knows 5
    users, targets = np.array([0, 2]), np.array([1, 2, 4, 5, 0, 4])
    found = steps_to(indptr, contacts, users, np.array([0, 4, 6]), targets)
    assert found.two.tolist() == [1, 2]  # from 0: 2; from 2: 0 and 4
    assert found.found.tolist() == [3, 2]  # 5 cannot be reached
    assert found.total.tolist() == [1 + 2 + 4, 2 + 2]


@settings(deadline=None, max_examples=150)
@given(data=st.data())
def test_the_twins_and_scipy_agree(data):
    n_users = data.draw(st.integers(2, 10))
    pairs = [(one, other) for one in range(n_users) for other in range(one)]
    indptr, contacts = rows(n_users, data.draw(st.sets(st.sampled_from(pairs))))
    users = np.array(data.draw(st.lists(st.integers(0, n_users - 1), unique=True)), np.int64)
    lists = [data.draw(st.lists(st.sampled_from([v for v in range(n_users) if v != u]), unique=True)) for u in users.tolist()]
    first = np.append(0, np.cumsum([len(each) for each in lists])).astype(np.int64)
    targets = np.array([target for each in lists for target in each], np.int64)
    visits = data.draw(st.sampled_from([1, 4, 16, 4096]))  # few: targets are searched from both ends
    found = steps_to(indptr, contacts, users, first, targets, visits)
    plain = plain_steps(indptr, contacts, users, first, targets)
    matrix = csr_array((np.ones(len(contacts)), contacts, indptr), shape=(n_users, n_users))
    distance = shortest_path(matrix, unweighted=True)
    for i, (user, wanted) in enumerate(zip(users.tolist(), lists, strict=True)):
        steps = [distance[user, target] for target in wanted if np.isfinite(distance[user, target])]
        expected = (steps.count(2), len(steps), sum(steps))
        assert (found.two[i], found.found[i], found.total[i]) == expected
        assert (plain.two[i], plain.found[i], plain.total[i]) == expected
