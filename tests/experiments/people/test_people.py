"""The experiment on people: what is hidden is hidden, controls are there, and verdicts follow from numbers."""

from __future__ import annotations

import numpy as np
import pytest

from privact.experiments.people.hidden_contacts import hide_contacts
from privact.experiments.people.measure import measure_lists, summarize
from privact.experiments.people.methods import CIRCLES, MOST_CONNECTED, SERIES, TASTE
from privact.experiments.people.page import check_never_below, check_targets, write_page
from privact.network.graph import ContactGraph
from privact.recommend.data.ratings import Ratings
from privact.simulate.known_graphs import make_cliques


@pytest.fixture(scope="module")
def cliques() -> ContactGraph:
    return make_cliques([40, 40, 40]).graph


@pytest.fixture(scope="module")
def rows(cliques: ContactGraph) -> list[dict]:
    users = [str(user) for user in range(120)]
    items = [f"item {user // 40} {number}" for user in range(120) for number in range(4)]
    ratings = Ratings.from_frame({"user": np.repeat(users, 4), "item": items, "rating": np.ones(480)})
    graph = ContactGraph.from_rows(cliques.edges(), users)
    fixed = measure_lists(graph, ratings, "fixed", None, 0)
    reported = [each for kind in ("round", "series") for each in measure_lists(graph, ratings, kind, 4.0, 0)]
    return summarize("own", {None: [fixed], 4.0: [reported]})


def test_a_hidden_contact_is_known_to_neither_end(cliques: ContactGraph) -> None:
    split = hide_contacts(cliques, np.random.default_rng(1))
    assert (split.known + split.hidden).nnz == 2 * cliques.n_edges == split.known.nnz + split.hidden.nnz
    assert 0.15 < split.hidden.nnz / (2 * cliques.n_edges) < 0.25
    assert split.graph.n_edges * 2 == split.known.nnz
    assert split.graph.n_users == 120


def test_a_perfect_list_has_ndcg_and_recall_1(cliques: ContactGraph) -> None:
    split = hide_contacts(cliques, np.random.default_rng(1))
    ranked = np.full((len(split.users), 100), -1)
    for row, user in enumerate(split.users):
        wanted = split.hidden[[user]].indices
        ranked[row, : len(wanted)] = wanted
    assert split.judge(ranked) == {"ndcg": 1.0, "map": 1.0, "recall_20": pytest.approx(1.0), "recall_100": 1.0}


def test_every_control_and_bound_is_in_the_table(rows: list[dict]) -> None:
    controls = {row["control"] for row in rows}
    assert controls == {None, "random users", MOST_CONNECTED, "labels alone", "taste alone", "random bins", "degree-only tree"}
    not_private = {row["method"] for row in rows if not row["private"]}
    assert not_private == {"common neighbours", "Adamic-Adar", "personalised PageRank"}
    found = {(row["method"], row["rounds"]): row["ndcg"] for row in rows}
    assert min(found[TASTE, 1], found[CIRCLES, 1]) > 0.6 > found[MOST_CONNECTED, 1]
    assert found["Adamic-Adar", 0] > 0.9


def test_verdicts_follow_from_ratios(rows: list[dict]) -> None:
    row = {**next(row for row in rows if row["method"] == CIRCLES), "dataset": "lastfm", "epsilon": 1.0}
    for ratio, verdict in ((2.3, "holds"), (2.1, "does not hold")):
        [claim] = check_targets([{**row, "ratio": ratio, "ratio_runs": [ratio, ratio + 0.01]}])
        assert claim.verdict == verdict
        assert claim.decided
    [claim] = check_targets([{**row, "ratio": 2.3, "ratio_runs": [1.6, 3.0]}])
    assert claim.decided is False
    assert check_never_below([{**row, "ratio": 0.97, "ratio_runs": [0.97]}]).verdict == "does not hold"
    assert check_never_below([{**row, "ratio": 0.99, "ratio_runs": [0.99]}]).verdict == "holds"


def test_the_page_of_one_run_is_undecided(rows: list[dict]) -> None:
    page = write_page({"seeds": 1, "groups": 16, "rows": rows}).with_undecided_claims()
    assert "| most connected users * | 4 | 1 |" in page.text
    assert {claim.verdict for claim in page.claims} == {"too few runs to tell"}
    assert any(row["method"] == SERIES and row["rounds"] == 4 for row in rows)
