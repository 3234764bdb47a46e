from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from privact.errors import InputError
from privact.network.graph import ContactGraph
from privact.network.user_labels import number_bins

NETWORK = nx.Graph([(10, 20), (20, 30)])
nx.set_node_attributes(NETWORK, {10: "red", 30: "blue"}, "colour")
GRAPH = ContactGraph.from_networkx(NETWORK)


@pytest.mark.parametrize(
    "bins",
    [
        [1, -1, 0],
        np.array([1, -1, 0], np.int8),
        ["red", None, "blue"],
        np.array(["red", None, "blue"], dtype=object),
        {10: "red", 20: None, 30: "blue"},
        {"10": "red", "20": None, "30": "blue"},
        pd.Series({10: "red", 20: None, 30: "blue"}),
        pd.Series(["red", None, "blue"]),
        [2.5, float("nan"), 0.5],
    ],
)
def test_labels_in_every_form(bins: object) -> None:
    assert number_bins(bins, GRAPH, NETWORK).tolist() == [1, -1, 0]


@pytest.mark.parametrize(
    ("bins", "message"),
    [
        ("height", "'height' is neither 'random' nor an attribute"),
        ([0, 1], "bins have shape"),
        (["a", "b"], "2 bins for 3 users"),
        ([[0, 1, 2]], "bins have shape"),
        ([-2, 0, 0], "bins go from -2 to 0"),
        ({"ann": "red"}, "name none of the 3 users, but for example 'ann'"),
        ([None, None, None], "no label"),
        (None, "bins is None: give 'random'"),
        (3, "bins is 3: n_bins=3 is the number of bins"),
        ({}, "bins is empty: give a label for each of 3 users"),
    ],
)
def test_labels_that_cannot_be(bins: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        number_bins(bins, GRAPH, NETWORK)


def test_an_attribute_needs_a_networkx_graph() -> None:
    with pytest.raises(InputError, match="bins 'colour' is unknown"):
        number_bins("colour", GRAPH, GRAPH)


@pytest.mark.parametrize(
    ("bins", "message"),
    [
        ({10: "red", 20: None, 30: "blue", 99: "green"}, "not in the graph, such as '99', have a label: 1 of 4 are ignored"),
        ({10: "red", 30: "blue"}, "without a label, such as '20', are in no bin: 1 of 3"),
        ("colour", "without a label, such as '20', are in no bin: 1 of 3"),
    ],
)
def test_users_without_a_label_and_labels_without_a_user_are_told(bins: object, message: str) -> None:
    with pytest.warns(UserWarning, match=message):
        assert number_bins(bins, GRAPH, NETWORK).tolist() == [1, -1, 0]


def test_whole_numbers_beyond_the_number_of_users_are_labels() -> None:
    assert number_bins([10115, 80331, 10115], GRAPH, NETWORK).tolist() == [0, 1, 0]
