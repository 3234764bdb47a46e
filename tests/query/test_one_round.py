"""Whoever asks a tree of one round over random bins for communities is told what it cannot show."""

from __future__ import annotations

import warnings

import pytest

from privact import OneRoundWarning, PrivaCT
from privact.query.one_round import is_one_round
from privact.simulate import make_cliques


@pytest.mark.parametrize(
    ("parameters", "blind"),
    [({"bins": "random"}, True), ({"bins": "random", "rounds": 4}, False), ({"bins": "labels"}, False), ({}, False)],
)
def test_which_trees_are_of_one_round(parameters, blind):
    assert is_one_round(parameters) == blind


def test_labels_of_one_round_warn_and_those_of_public_bins_do_not():
    known = make_cliques([10, 12])
    with pytest.warns(OneRoundWarning, match="not who they are"):
        _ = PrivaCT(epsilon=1.0, random_state=0, n_clusters=2).fit(known.graph).labels_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _ = PrivaCT(epsilon=1.0, bins=known.bins, random_state=0, n_clusters=2).fit(known.graph).labels_
