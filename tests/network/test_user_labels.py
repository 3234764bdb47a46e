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
        {10: "red", 30: "blue", 99: "green"},
        {"10": "red", "30": "blue"},
        pd.Series({10: "red", 30: "blue"}),
        pd.Series(["red", None, "blue"]),
        [2.5, float("nan"), 0.5],
        "colour",
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
    ],
)
def test_labels_that_cannot_be(bins: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        number_bins(bins, GRAPH, NETWORK)


def test_an_attribute_needs_a_networkx_graph() -> None:
    with pytest.raises(InputError, match="bins 'colour' is unknown"):
        number_bins("colour", GRAPH, GRAPH)
