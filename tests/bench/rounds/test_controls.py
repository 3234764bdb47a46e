"""Controls beside a series: what they find on blocks that everybody can see."""

import numpy as np
import pytest

from privact.bench.rounds.controls import CONTROLS, measure_controls, measure_modularity
from privact.bench.rounds.refine import plant_blocks


def test_labels_and_louvain_find_planted_blocks_and_degrees_do_not():
    graph, block = plant_blocks(3, 20, 0.9, 0.02, np.random.default_rng(0))
    found = measure_controls(graph, block, None, 0)
    assert tuple(found) == CONTROLS
    assert found["labels"] > 0.8
    assert found["louvain"] > 0.8
    assert found["degree_only"] < 0.6
    assert found["most_connected"] < 0.6
    assert found["louvain_modularity"] == pytest.approx(measure_modularity(graph.to_scipy(), block))


def test_networks_without_labels_have_no_control_of_labels():
    graph, _ = plant_blocks(2, 15, 0.9, 0.05, np.random.default_rng(1))
    assert measure_controls(graph, None, 4.0, 0)["labels"] is None


def test_modularity_of_two_separate_pairs_is_one_half():
    contacts = np.zeros((4, 4))
    contacts[0, 1] = contacts[1, 0] = contacts[2, 3] = contacts[3, 2] = 1
    import scipy.sparse as sp

    assert measure_modularity(sp.csr_array(contacts), np.array([0, 0, 1, 1])) == pytest.approx(0.5)
