"""Scores of pairs, and the links that a model misses."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from privact.baselines import link_prediction
from privact.baselines.cmn import sample_cmn
from privact.baselines.link_prediction import link_scores, missing_links
from privact.baselines.random_graph_model import HierarchicalRandomGraph
from privact.errors import InputError
from privact.network.graph import ContactGraph
from privact.query.quality import random_tree


def planted(groups, size, inside, between, seed):
    """Groups of users, linked with one probability inside and another between them; also who is in which."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(groups), size)
    pairs = np.array(list(combinations(range(groups * size), 2)))
    chance = np.where(group[pairs[:, 0]] == group[pairs[:, 1]], inside, between)
    return pairs[rng.random(len(pairs)) < chance], group


def some_models(graph, count, seed):
    rng = np.random.default_rng(seed)
    return [HierarchicalRandomGraph.fit(random_tree(graph.n_users, rng), graph) for _ in range(count)]


def test_scores_are_averages_over_models():
    edges, _ = planted(2, 6, 0.6, 0.2, seed=0)
    graph = ContactGraph.from_edges(edges, users=range(12))
    models = some_models(graph, 5, seed=1)
    pairs = list(combinations(range(12), 2))
    by_hand = np.mean([model.link_probabilities(pairs) for model in models], axis=0)
    assert link_scores(models, pairs) == pytest.approx(by_hand)


@pytest.mark.parametrize("cells", [4_000_000, 50])
def test_missing_links_are_the_best_of_all_pairs_that_are_not_linked(monkeypatch, cells):
    """The same, whether all users are scored at once or few at a time."""
    monkeypatch.setattr(link_prediction, "_CELLS", cells)
    edges, _ = planted(2, 10, 0.5, 0.2, seed=2)
    graph = ContactGraph.from_edges(edges, users=range(20))
    models = some_models(graph, 3, seed=3)
    linked = set(map(tuple, edges.tolist()))
    free = [pair for pair in combinations(range(20), 2) if pair not in linked]
    scores = dict(zip(free, link_scores(models, free).tolist(), strict=True))
    ranking = sorted(free, key=lambda pair: (-scores[pair], pair))
    for m in (1, 7, len(free), 10_000):
        found = missing_links(models, graph, m)
        assert list(map(tuple, found.pairs.tolist())) == ranking[:m]
        assert found.scores == pytest.approx([scores[pair] for pair in ranking[:m]])


@pytest.mark.parametrize("seed", [0, 1])
def test_hidden_links_of_planted_groups_are_predicted_far_better_than_by_chance(seed):
    edges, group = planted(4, 15, 0.6, 0.02, seed)
    rng = np.random.default_rng(seed)
    hidden = rng.random(len(edges)) < 0.15
    graph = ContactGraph.from_edges(edges[~hidden], users=range(60))
    trees = sample_cmn(graph, 20, burn_in=400, spacing=5, random_state=seed)
    models = [HierarchicalRandomGraph.fit(tree, graph) for tree in trees]
    known = set(map(tuple, edges.tolist()))
    unlinked = np.array([pair for pair in combinations(range(60), 2) if pair not in known])
    true, false = link_scores(models, edges[hidden]), link_scores(models, unlinked)
    better = np.mean(true[:, None] > false[None, :]) + 0.5 * np.mean(true[:, None] == false[None, :])
    assert better > 0.75  # chance is 0.5
    found = missing_links(models, graph, 40).pairs
    assert np.mean(group[found[:, 0]] == group[found[:, 1]]) > 0.9  # chance is about 0.12


def test_what_cannot_be_scored_is_refused_in_one_line():
    graph = ContactGraph.from_edges(np.array([[0, 1], [1, 2]]))
    models = some_models(graph, 1, 0)
    with pytest.raises(InputError, match="no models were given"):
        link_scores([], [(0, 1)])
    with pytest.raises(InputError, match="no models were given"):
        missing_links([], graph, 3)
    with pytest.raises(InputError, match="m = 0 cannot be"):
        missing_links(models, graph, 0)
    with pytest.raises(InputError, match="3 users but the graph 4"):
        missing_links(models, ContactGraph.from_edges(np.array([[0, 3]])), 1)
