"""PrivaCT among scikit-learn's tools, and without scikit-learn."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone, is_clusterer
from sklearn.exceptions import NotFittedError as SklearnNotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted

from privact import NotFittedError, PrivaCT, WholeGraph, score_negative_loss, score_share_of_contacts

BLOCKS = nx.to_scipy_sparse_array(nx.planted_partition_graph(3, 12, 0.9, 0.05, seed=1))

EXPECTED_FAILURES = {
    "check_dtype_object": "asks for a TypeError, but what is no number is refused by a GraphError, a ValueError, as elsewhere",
    "check_fit_non_negative": "fits [[-1, 1], [1, -1]]: two columns are pairs of ids, and an id may be below 0",
}
"""Checks of scikit-learn that a clusterer of graphs cannot pass, each with the reason."""


def test_scikit_learns_own_checks_pass_but_for_those_with_a_reason() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(
            PrivaCT(n_bins=2, sweeps=1, random_state=0), expected_failed_checks=EXPECTED_FAILURES, on_fail=None, on_skip=None
        )
    failed = {each["check_name"]: str(each["exception"]) for each in results if each["status"] == "failed"}
    assert failed == {}
    assert sum(each["status"] == "passed" for each in results) >= 40 - len(EXPECTED_FAILURES)
    excused = {each["check_name"] for each in results if each["status"] == "xfail"}
    assert excused == set(EXPECTED_FAILURES), "a check that passes needs no excuse"


def test_tags_clone_and_fitted() -> None:
    model = PrivaCT(epsilon=None, n_bins=3, bins=np.arange(36) % 3, random_state=0)
    assert is_clusterer(model)
    twin = clone(model)
    assert twin is not model
    assert twin.get_params()["n_bins"] == 3
    with pytest.raises(SklearnNotFittedError):
        check_is_fitted(model)
    with pytest.raises(SklearnNotFittedError, match="has learned nothing"):
        _ = model.labels_
    with pytest.raises(NotFittedError):
        _ = model.children_
    assert not hasattr(model, "labels_")
    model.fit(BLOCKS)
    check_is_fitted(model)
    assert model.n_features_in_ == 36
    assert model.children_.shape == (35, 2)
    assert model.n_clusters_ == len(set(model.labels_.tolist()))
    assert sorted(model.children_.ravel().tolist()) == list(range(70))
    again = pickle.loads(pickle.dumps(model))
    assert again.tree_ == model.tree_
    assert (again.labels_ == model.labels_).all()


@pytest.mark.parametrize("score", [score_share_of_contacts, score_negative_loss])
@pytest.mark.parametrize("dense", [False, True])
def test_a_grid_search_chooses_what_our_scorers_prefer(score: object, dense: bool) -> None:
    search = GridSearchCV(
        PrivaCT(bins=np.repeat([0, 1, 2], 12), random_state=0), {"epsilon": [0.5, None]}, scoring=score, cv=WholeGraph()
    )
    search.fit(BLOCKS.toarray() if dense else BLOCKS)
    assert search.best_params_ == {"epsilon": None}
    assert search.best_estimator_.tree_.n_users == 36


def test_everything_works_without_scikit_learn() -> None:
    code = """
import sys
for name in ("sklearn", "networkx", "pandas", "polars", "matplotlib"):
    sys.modules[name] = None
import numpy as np
from privact import PrivaCT, NotFittedError, share_of_contacts
model = PrivaCT(epsilon=None, n_bins=2, n_clusters=2, random_state=0)
try:
    model.labels_
except NotFittedError:
    pass
edges = np.array([[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3]])
assert len(model.fit_predict(edges)) == 6
assert model.get_params()["n_bins"] == 2
assert 0 <= share_of_contacts(model.tree_, edges) <= 1
for ask, what in (("to_networkx", "networkx"), ("to_pandas", "pandas"), ("plot", "matplotlib")):
    try:
        getattr(model.tree_, ask)()
    except ImportError as error:
        assert what in str(error) and "pip install" in str(error) and "\\n" not in str(error), error
    else:
        raise AssertionError(ask)
assert "sklearn" not in [name for name, module in sys.modules.items() if module is not None]
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
