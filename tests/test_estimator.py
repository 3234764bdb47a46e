"""PrivaCT, the front door: scikit-learn's conventions, every kind of graph, and what fit leaves behind."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

from privact import ContactGraph, InputError, NotFittedError, PrivaCT, UnknownUserError
from privact.protocol.bins import assign_bins
from privact.simulate.federated_network import make_federated_network
from privact.simulate.known_graphs import make_nested_cliques
from privact.simulate.reports import degree_vectors
from privact.tree.cost import dasgupta_cost


@pytest.fixture(scope="module")
def network():
    return make_federated_network(300, random_state=1)


@pytest.fixture(scope="module")
def fitted(network):
    return PrivaCT(random_state=3).fit(network.graph)


def test_parameters_follow_scikit_learn():
    model = PrivaCT(epsilon=0.5, n_bins=4, search="gentree", denoise=False, sweeps=7, random_state=1)
    assert clone(model).get_params() == model.get_params()
    assert clone(model) is not model
    assert model.set_params(epsilon=2.0).epsilon == 2.0
    assert repr(model) == "PrivaCT(epsilon=2.0, n_bins=4, denoise=False, search='gentree', sweeps=7, random_state=1)"
    with pytest.raises(InputError, match="no parameter 'epsilom'"):
        model.set_params(epsilom=1)
    PrivaCT(epsilon=-1)  # validated in fit, not before


def test_what_fit_leaves_behind(network, fitted):
    n = network.graph.n_users
    bins = int(np.log(n))
    assert fitted.n_bins_ == bins
    assert fitted.epsilon_report_ == 0.5
    assert fitted.reports_.shape == fitted.vectors_.shape == (n, bins)
    assert fitted.reports_.dtype.kind == "i"
    assert (fitted.vectors_ >= 0).all()
    assert list(fitted.tree_.users) == list(network.graph.users)
    assert fitted.bins_.tolist() == assign_bins(network.graph.users, fitted._seed, fitted.n_bins_).tolist()
    assert fitted.cost_trace_[-1] == pytest.approx(dasgupta_cost(fitted.tree_, fitted.embedding_))
    assert (fitted.labels_ == fitted.tree_.cut("auto")).all()


def test_reports_are_counts_plus_noise_and_denoising_brings_them_closer(network, fitted):
    exact = degree_vectors(network.graph, fitted.bins_, fitted.n_bins_)
    noise = fitted.reports_ - exact
    assert abs(noise.mean()) < 0.5
    assert noise.std() == pytest.approx(np.sqrt(2 * np.exp(-0.5)) / (1 - np.exp(-0.5)), rel=0.15)
    assert ((fitted.vectors_ - exact) ** 2).mean() < 0.6 * (noise**2).mean()


def test_without_noise_reports_are_exact(network):
    model = PrivaCT(epsilon=None, random_state=0).fit(network.graph)
    assert (model.reports_ == degree_vectors(network.graph, model.bins_, model.n_bins_)).all()
    assert model.epsilon_report_ is None
    assert "epsilon" not in model.tree_.parameters


def test_the_papers_settings_take_reports_as_they_are(network):
    model = PrivaCT(search="gentree", denoise=False, sweeps=20, random_state=0).fit(network.graph)
    assert (model.vectors_ == model.reports_).all()
    assert len(model.cost_trace_) == 21


def test_every_kind_of_graph_gives_the_same_tree(network):
    graph = network.graph
    edges = graph.edges()
    trees = [
        PrivaCT(random_state=5).fit(form).tree_
        for form in (
            edges,
            csr_array(graph.to_scipy()),
            nx.from_edgelist(edges.tolist(), nx.Graph()),
            ContactGraph.from_edges(edges),
        )
    ]
    assert trees[0] == trees[1] == trees[3]
    assert trees[2].n_users == trees[0].n_users  # networkx numbers users by first appearance


def test_users_are_the_objects_that_were_given():
    ring = [(10 * i, 10 * ((i + 1) % 20)) for i in range(20)]
    for form in (np.array(ring), nx.Graph(ring)):
        tree = PrivaCT(epsilon=None, n_bins=2, random_state=0).fit(form).tree_
        assert sorted(tree.users) == list(range(0, 200, 10))
        near = tree.nearest(50, 7)
        assert all(type(user) is int for user in near.users)
        assert near.users == tree.nearest("50", 7).users
    grid = PrivaCT(epsilon=None, n_bins=2, random_state=0).fit(nx.grid_2d_graph(4, 4)).tree_
    assert "(0, 1)" in grid.nearest((0, 0), 15).users
    matrix = PrivaCT(epsilon=None, n_bins=2, random_state=0).fit(nx.to_scipy_sparse_array(nx.path_graph(9))).tree_
    assert sorted(matrix.users) == list(range(9))


def test_one_seed_decides_everything(network, tmp_path):
    files = []
    for i, seed in enumerate((7, 7, 8)):
        PrivaCT(random_state=seed).fit(network.graph).tree_.save(tmp_path / f"{i}.hct")
        files.append((tmp_path / f"{i}.hct").read_bytes())
    assert files[0] == files[1]
    assert files[0] != files[2]


def test_a_released_tree_never_tells_the_seed_of_the_noise(network):
    parameters = PrivaCT(random_state=123456789).fit(network.graph).tree_.parameters
    assert set(parameters) == {"epsilon", "epsilon_report", "n_bins", "bins", "bins_seed", "denoise", "search", "balance"}
    assert "123456789" not in str(dict(parameters))


def test_labels_as_bins_and_users_in_no_bin(network):
    labels = network.servers.copy()
    labels[:20] = -1
    model = PrivaCT(bins=labels, epsilon=None).fit(network.graph)
    assert model.n_bins_ == labels.max() + 1
    assert model.reports_.sum() == degree_vectors(network.graph, labels, model.n_bins_).sum()
    assert model.tree_.parameters["bins"] == "labels"


def test_known_communities_are_found():
    known = make_nested_cliques((2, 2), 4, (1, 1))
    labels = PrivaCT(epsilon=None, bins=known.bins, n_clusters=4, random_state=0).fit_predict(known.graph)
    cliques = [set(labels[i : i + 4]) for i in range(0, 16, 4)]
    assert all(len(clique) == 1 for clique in cliques)
    assert len(set().union(*cliques)) == 4


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"n_bins": 0}, "n_bins"),
        ({"n_bins": 10_000}, "n_bins"),
        ({"bins": "taste"}, "bins 'taste' is unknown"),
        ({"bins": [0, 1]}, "one whole number for each"),
        ({"denoise": "yes"}, "denoise is 'yes': give True or False"),
        ({"n_clusters": 2.5}, "n_clusters is 2.5: give a whole number"),
        ({"n_clusters": 10_000}, "n_clusters is 10000, outside 1 to the"),
        ({"random_state": 1.5}, "random_state 1.5"),
        ({"search": "best"}, "search 'best' is unknown"),
        ({"sweeps": -1}, "sweeps -1"),
        ({"temperature": -2.0}, "temperature"),
        ({"n_clusters": 0}, "n_clusters"),
    ],
)
def test_bad_parameters_are_refused_in_one_line(network, parameters, message):
    with pytest.raises((InputError, ValueError), match=message) as refused:
        PrivaCT(**parameters).fit(network.graph)
    assert "\n" not in str(refused.value)


def test_nothing_is_answered_before_fit():
    with pytest.raises(NotFittedError, match="call fit"):
        _ = PrivaCT().labels_
    with pytest.raises(NotFittedError, match="call fit"):
        PrivaCT().place([[1, 2]])


def test_late_joiners_are_placed_and_grafted(fitted):
    twins = fitted.reports_[:5]
    placed = fitted.place(twins, users=[f"late{i}" for i in range(5)])
    for i in range(5):
        near = placed.nearest(f"late{i}", 10)
        assert len(near) == 10
        assert (np.diff(near.community_sizes) >= 0).all()
    grafted = placed.grafted()
    assert grafted.n_users == fitted.tree_.n_users + 5
    assert list(grafted.users)[-5:] == [f"late{i}" for i in range(5)]
    assert grafted.leaf_of("late4") == fitted.tree_.n_users + 4
    with pytest.raises(UnknownUserError):
        placed.nearest("nobody", 3)
    with pytest.raises(InputError, match="bins"):
        fitted.place(twins[:, :2])


def test_an_epsilon_that_protects_nothing_is_said(network):
    with pytest.warns(UserWarning, match="epsilon 1e\\+06 protects nothing"):
        PrivaCT(epsilon=1e6, random_state=0).fit(network.graph)


def test_the_old_random_state_decides_everything_too(network):
    trees = [PrivaCT(random_state=np.random.RandomState(3)).fit(network.graph).tree_ for _ in range(2)]
    assert trees[0] == trees[1]


def test_progress_is_a_function_or_a_bar(network, capsys):
    stages = []
    PrivaCT(random_state=0).fit(network.graph, progress=lambda stage, done, total: stages.append(stage))
    assert stages
    PrivaCT(random_state=0).fit(network.graph, progress=True)  # no terminal: nothing is shown
    assert capsys.readouterr() == ("", "")


def test_a_model_shows_its_parameters_in_a_notebook(network):
    model = PrivaCT(epsilon=2.0)
    assert repr(model) == "PrivaCT(epsilon=2.0)"
    assert "not fitted" in model._repr_html_()
    assert "<b>epsilon</b>" in model._repr_html_()
    assert f"learned from {network.graph.n_users:,} users" in model.fit(network.graph)._repr_html_()


@pytest.mark.parametrize(
    ("parameters", "asked", "message"),
    [
        ({"rounds": 1_000}, {}, "rounds is 1000: a series has at most 100 rounds"),
        ({}, {"progress": "yes"}, "progress is 'yes': give True for a bar"),
    ],
)
def test_what_would_run_for_ever_or_fail_late_is_refused(parameters, asked, message):
    with pytest.raises(InputError, match=message):
        PrivaCT(random_state=0, **parameters).fit([(1, 2), (2, 3), (3, 4)], **asked)
