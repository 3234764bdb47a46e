"""Similarity of ratings and NDCG against distance: correlations with visible answers, and the files that a run leaves."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from scipy.sparse import csr_array
from typer.testing import CliRunner

from privact.cli.main import app
from privact.experiments.distance.measure import mean_paths
from privact.experiments.distance.page import check_distance
from privact.experiments.report.recommendation_rows import CONTROLS, ROW
from privact.experiments.running.networks import PaperNetworks, RatedNetwork
from privact.experiments.table5 import EXPERIMENT as TABLE5
from privact.experiments.table5.measure import correlate_rows, correlate_users, full_similarity, partial_similarity
from privact.experiments.table5.page import check_profile
from privact.recommend.data.ratings import Ratings
from privact.recommend.data.splits import Split
from privact.simulate.federated_network import make_federated_network
from privact.simulate.known_graphs import make_path

DENSE = np.array([[0.2, 0.4, 1.0, 0.0], [0.4, 0.6, 1.0, 0.2], [1.0, 0.0, 0.0, 0.5], [0.5, 0.5, 0.0, 0.0]])


def ratings(dense):
    return Ratings.from_csr(csr_array(dense), [f"u{i}" for i in range(len(dense))], [f"i{i}" for i in range(dense.shape[1])])


def test_partial_similarity_is_the_correlation_over_common_items():
    found = partial_similarity(ratings(DENSE), np.arange(4))
    assert found[0, 1] == pytest.approx(np.corrcoef([0.2, 0.4, 1.0], [0.4, 0.6, 1.0])[0, 1])
    assert found[1, 2] == pytest.approx(1.0)  # items 0 and 3: both fall, and of two points that is all there is to tell
    assert found[0, 2] == 0.0  # one common item
    assert found[0, 3] == 0.0  # the same rating for everything
    np.testing.assert_allclose(found, found.T, atol=1e-12)


def test_full_similarity_is_the_correlation_over_all_items():
    np.testing.assert_allclose(full_similarity(ratings(DENSE), np.array([2, 0])), np.corrcoef(DENSE)[[2, 0]])


def test_correlations_by_row_are_numpys_over_what_counts():
    rng = np.random.default_rng(0)
    one, other, counted = rng.random((3, 9)), rng.random((3, 9)), rng.random((3, 9)) < 0.7
    other[2] = 4.0
    found = correlate_rows(one, np.where(counted, other, np.inf), counted)
    for i in range(2):
        assert found[i] == pytest.approx(np.corrcoef(one[i, counted[i]], other[i, counted[i]])[0, 1])
    assert np.isnan(found[2])


def test_where_taste_follows_the_network_the_correlation_is_negative():
    """Users on a path rate the items around their own number: the farther, the fewer in common."""
    dense = np.array([[1.0 if abs(user - item) <= 4 else 0.0 for item in range(20)] for user in range(20)])
    network = RatedNetwork("made up", make_path(20).graph, ratings(dense).for_users([f"u{i}" for i in range(20)]))
    found = correlate_users(network, np.arange(20))
    assert (found["full", False] < -0.5).all()
    likeness, others = np.corrcoef(dense)[7], np.arange(20) != 7
    assert found["full", False][7] == pytest.approx(np.corrcoef(likeness[others], np.abs(np.arange(20) - 7)[others])[0, 1])
    assert len(found["full", True]) == 5 * 20
    assert np.abs(found["full", True]).mean() < 0.4
    assert np.isnan(found["partial", False]).all()  # everybody rates everything the same: nobody is like anybody


def test_a_path_profile_that_can_be_counted():
    """Target 0 on the path 0-1-2-3: in the community {1, 3}, item 0 was rated by 1, item 1 by both, item 2 by nobody."""
    steps = np.abs(np.subtract.outer(np.arange(4), np.arange(4))).astype(float)
    train = ratings(np.array([[0, 0, 0.0], [1, 1, 0], [0, 0, 1], [0, 1, 0]]))
    members = csr_array(np.array([[0, 1, 0, 1], [0, 0, 1, 0], [0] * 4, [0] * 4]))
    split = Split(0, train, np.array([0, 1]), csr_array(np.ones((2, 3))))
    found = mean_paths(steps, members, split, np.array([[2, 1, 0], [1, -1, -1]]))
    assert found[0] == pytest.approx(np.mean([(1 + 3) / 2, 1]))
    assert np.isnan(found[1])  # 2 did not rate item 1


def similarity_rows(partial, chance):
    return [
        {
            "dataset": name,
            "profile": "partial",
            "control": control,
            "negative_percent": chance if control else share,
            "paper_negative_percent": 80.0,
        }
        for name, share in zip(("lastfm", "delicious", "douban"), partial, strict=True)
        for control in (False, True)
    ]


@pytest.mark.parametrize(
    ("shares", "chance", "verdict"),
    [
        ((80.0, 75.0, 85.0), 50.0, "holds"),
        ((80.0, 60.0, 85.0), 50.0, "holds with a caveat"),
        ((80.0, 55.0, 85.0), 50.0, "does not hold"),
    ],
)
def test_the_verdict_on_similarity_follows_from_the_shares_and_the_control(shares, chance, verdict):
    assert check_profile(similarity_rows(shares, chance), "partial").verdict == verdict


def correlations(ours, control):
    kinds = (("PrivaCT-CF", None, ours), ("m random users", "random users", control))
    return [
        {"dataset": name, "method": method, "control": kind, "correlation": runs}
        for method, kind, given in kinds
        for name, runs in zip(("lastfm", "delicious", "douban"), given, strict=True)
    ]


NEGATIVE, POSITIVE, MIXED = [-0.1] * 4 + [0.1], [0.1] * 5, [-0.1, 0.1, None]


@pytest.mark.parametrize(
    ("ours", "control", "verdict"),
    [
        ((NEGATIVE, NEGATIVE, POSITIVE), (MIXED, MIXED, MIXED), "holds"),
        ((NEGATIVE, NEGATIVE, POSITIVE), (MIXED, MIXED, POSITIVE), "holds with a caveat"),
        ((NEGATIVE, MIXED, POSITIVE), (MIXED, MIXED, MIXED), "does not hold"),
    ],
)
def test_the_verdict_on_ndcg_follows_from_the_signs_and_the_control(ours, control, verdict):
    assert check_distance(correlations(ours, control)).verdict == verdict


@pytest.fixture(scope="module")
def made_up(tmp_path_factory):
    """A folder laid out like the datasets, with ratings at random."""
    folder = tmp_path_factory.mktemp("data")
    for seed, name in enumerate(("lastfm", "delicious", "douban")):
        rng = np.random.default_rng(seed)
        (folder / name).mkdir()
        edges = make_federated_network(60, branching=(3, 2), mean_degree=6.0, random_state=seed).graph.edges()
        with gzip.open(folder / name / "social.tsv.gz", "wt") as file:
            file.writelines(f"{a}\t{b}\n" for a, b in [("user", "friend"), *edges.tolist()])
        with gzip.open(folder / name / "ratings.tsv.gz", "wt") as file:
            file.write("user\titem\trating\n")
            for user in range(60):
                file.writelines(f"{user}\t{item}\t{rng.integers(1, 6)}\n" for item in rng.choice(30, 8, replace=False))
    return folder


def test_the_command_leaves_rows_with_controls_and_both_analyses(made_up, tmp_path):
    done = CliRunner().invoke(app, ["reproduce", "distance", "--data", str(made_up), "-o", str(tmp_path), "--quick"])
    assert done.exit_code == 0, done.output
    found = json.loads((tmp_path / "distance.json").read_text())
    assert all(set(row) == set(ROW) for row in found["rows"])
    assert {row["control"] for row in found["rows"]} == {None, *CONTROLS}
    assert len(found["rows"]) == 3 * 5
    assert len(found["correlations"]) == 3 * 4
    assert len(found["likeness"]) == 3 * 2 * 2
    assert len(found["claims"]) == 3
    assert (tmp_path / "distance.png").read_bytes().startswith(b"\x89PNG")
    text = (tmp_path / "distance.md").read_text()
    assert "m random users (control)" in text
    assert "| lastfm | partial | 76.8 % |" in text


def test_table_5_alone(made_up):
    found = TABLE5.run(PaperNetworks(str(made_up)), quick=True)
    assert found.name == "table5"
    assert [(row["dataset"], row["profile"]) for row in found.document["rows"][::4]] == [
        ("lastfm", "partial"),
        ("delicious", "partial"),
        ("douban", "partial"),
    ]
    assert all(set(ROW) <= set(row) for row in found.document["rows"])
    assert [row["control"] for row in found.document["rows"][:2]] == [None, "profiles dealt at random"]
