"""The table of existing users on a made-up network: its rows, its controls, its verdict, and going on after an interruption."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from privact.errors import InputError
from privact.experiments.report.findings import write_findings
from privact.experiments.report.recommendation_rows import CONTROLS, ROW
from privact.experiments.running.networks import OwnNetwork, PaperNetworks, load_rated
from privact.experiments.table4 import EXPERIMENT
from privact.experiments.table4.measure import FULL, PAPER, QUICK, Scale, plan
from privact.experiments.table4.methods import METHODS, TUNED, WEIGHTS, ExistingRun
from privact.experiments.table4.page import check_result_4
from privact.recommend.data.splits import split_ratings
from privact.recommend.exposure.exposure_settings import RECQ
from privact.recommend.exposure.social_exposure import SocialExposure

USERS, ITEMS = 36, 30


def table_4(data: str, output: Path) -> Any:
    """A quick run, with its finished parts in a folder."""
    return EXPERIMENT.run(PaperNetworks(data), quick=True, parts=output / "cells")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder whose lastfm is two camps of users, each knowing and hearing mostly its own."""
    folder = tmp_path_factory.mktemp("data") / "lastfm"
    folder.mkdir()
    rng = np.random.default_rng(0)
    camp = np.arange(USERS) % 2
    knows = [(u, v) for u in range(USERS) for v in range(u) if rng.random() < (0.4 if camp[u] == camp[v] else 0.05) or u == v + 1]
    hears = [(u, i) for u in range(USERS) for i in range(ITEMS) if rng.random() < (0.5 if camp[u] == i % 2 else 0.05)]
    write(folder / "social.tsv.gz", "user\tfriend", knows)
    write(folder / "ratings.tsv.gz", "user\titem\trating", [(u, i, 1 + (u + i) % 5) for u, i in hears])
    return str(folder.parent)


def write(path: Path, heading: str, lines: list[tuple[int, ...]]) -> None:
    text = "\n".join([heading, *("\t".join(map(str, line)) for line in lines)]) + "\n"
    path.write_bytes(gzip.compress(text.encode()))


@pytest.fixture(scope="module")
def found(data: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    output = tmp_path_factory.mktemp("results")
    return table_4(data, output), output


def test_every_row_has_the_agreed_keys_and_every_control_is_there(found: tuple[Any, Path]) -> None:
    rows = found[0].document["rows"]
    assert [row["method"] for row in rows] == [method.name for method in METHODS]
    assert all(tuple(row) == ROW for row in rows)
    assert {row["control"] for row in rows} == {None, *CONTROLS}
    assert {row["scenario"] for row in rows} == {"existing users"}
    assert all(0.0 <= row["map"] <= 1.0 and 0.0 < row["ndcg"] <= 1.0 for row in rows)
    stated = [(row["paper_ndcg"], row["paper_map"]) for row in rows if row["paper_ndcg"] is not None]
    assert stated == list(PAPER["lastfm"]) * 2  # beside both rankings


def test_what_sees_contacts_is_not_called_private(found: tuple[Any, Path]) -> None:
    private = {row["method"]: (row["private"], row["epsilon"]) for row in found[0].document["rows"]}
    assert private["SERec"] == private["implicit ALS + contacts"] == private["SERec, random users"] == (False, None)
    assert private["PrivaCT-SERec"] == private["implicit ALS + m random users"] == (True, 1.0)
    assert private["Basic SERec (tuned ExpoMF)"] == private["most popular"] == (True, None)


def test_recqs_model_cannot_tell_random_users_from_contacts(run: ExistingRun) -> None:
    contacts, strangers = run.neighbours("contacts", 0), run.neighbours("as many as contacts", 0)
    assert (np.diff(contacts.indptr) == np.diff(strangers.indptr)).all()
    assert (contacts != strangers).nnz
    for form, alike in (("recq", True), ("own", False)):
        one, other = (SocialExposure(near, form, RECQ).fit(run.split.train) for near in (contacts, strangers))
        assert np.array_equal(one.user_factors_, other.user_factors_) == alike
        assert np.array_equal(one.item_factors_, other.item_factors_) == alike


def test_the_other_models_can_tell_them_and_rankings_differ(found: tuple[Any, Path]) -> None:
    ndcg = {row["method"]: row["ndcg"] for row in found[0].document["rows"]}
    assert ndcg["SERec, random users"] != ndcg["SERec"]
    assert ndcg["SERec, RecQ, by exposure"] != ndcg["SERec, RecQ"]
    assert ndcg["SERec, by exposure"] != ndcg["SERec"]


@pytest.fixture(scope="module")
def run(data: str) -> ExistingRun:
    network = load_rated("lastfm", data)
    return ExistingRun(network, next(split_ratings(network.ratings, np.random.default_rng(0))), TUNED["lastfm"])


def test_methods_share_a_cell_where_only_the_ranking_differs(run: ExistingRun) -> None:
    cell = {method.name: run.described(method, 1) for method in METHODS}
    assert cell["SERec, RecQ"] == cell["SERec, RecQ, by exposure"]
    assert cell["SERec, RecQ, random users"] != cell["SERec, RecQ"]  # a fit of its own, though it comes out the same
    different = {json.dumps(each, sort_keys=True) for each in cell.values()}
    assert len(different) == len(METHODS) - sum(method.by_exposure for method in METHODS)


def test_recqs_random_users_are_measured_and_come_out_as_contacts_do(found: tuple[Any, Path]) -> None:
    rows = {row["method"]: (row["ndcg"], row["map"]) for row in found[0].document["rows"]}
    assert rows["SERec, RecQ, random users"] == rows["SERec, RecQ"] != rows["Basic SERec, RecQ"]


def test_the_weight_of_neighbours_is_the_best_on_a_hidden_part_of_the_training_ratings(
    run: ExistingRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged = []

    def judge(self: ExistingRun, model: Any, keep_users: bool = False) -> dict[str, Any]:
        judged.append(self)
        return {"ndcg": -abs(model.weight - 0.1)}

    monkeypatch.setattr(ExistingRun, "_score", judge)
    assert run.weight("contacts") == 0.1
    assert len(judged) == len(WEIGHTS)
    assert judged[0] is not run
    learned, hidden = judged[0].split.train.binary, judged[0].split.relevant
    assert learned.nnz + hidden.nnz == run.split.train.n_ratings
    assert (run.split.train.binary - learned).nnz == hidden.nnz  # both parts are of the training ratings


def test_the_files_are_written(found: tuple[Any, Path], tmp_path: Path) -> None:
    paths = write_findings(found[0], tmp_path)
    assert {path.name for path in paths} == {"table4.json", "table4.md", "table4.png"}
    text = (tmp_path / "table4.md").read_text()
    assert "Result 4" in text
    assert "one fold and one seed" in text


def test_finished_cells_are_not_run_again(found: tuple[Any, Path], data: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(self: ExistingRun, method: Any, seed: int) -> dict[str, Any]:
        raise AssertionError(f"{method.name} is run again")

    monkeypatch.setattr(ExistingRun, "measure", never)
    again = table_4(data, found[1])
    assert again.document == found[0].document


def test_an_interrupted_run_goes_on_where_it_was(data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[str] = []

    def fake(self: ExistingRun, method: Any, seed: int) -> dict[str, Any]:
        if len(measured) == 3:
            measured.append("interrupted")
            raise KeyboardInterrupt
        measured.append(method.name)
        cell = {"ndcg": 0.1, "map": 0.05, "users": [0.1, 0.2], "weight": 0.1}
        return {"preference": cell, "exposure": cell}

    monkeypatch.setattr(ExistingRun, "measure", fake)
    with pytest.raises(KeyboardInterrupt):
        table_4(data, tmp_path)
    table_4(data, tmp_path)
    assert measured[:3] == [method.name for method in METHODS[:3]]
    assert not set(measured[:3]) & set(measured[4:])
    assert measured[4] == METHODS[3].name


def test_the_plan_gives_every_seed_to_what_depends_on_it() -> None:
    cells = list(plan(Scale(2, 3)))
    seeds = {method: [seed for fold, other, seed in cells if (fold, other) == (1, method)] for method in METHODS}
    alone = {method.name for method, taken in seeds.items() if taken == [0]}
    assert all(taken in ([0], [0, 1, 2]) for taken in seeds.values())
    assert {fold for fold, _, _ in cells} == {0, 1}
    sees = {method.name for method in METHODS if method.near in ("nobody", "contacts")}
    assert alone == sees | {"SERec, RecQ, random users"}  # as many as contacts, whatever the seed, and it sees no more


def test_an_unknown_network_is_named() -> None:
    with pytest.raises(InputError, match="network 'flixster' is unknown: choose among lastfm"):
        PaperNetworks(None, ["flixster"])


def test_ones_own_network_gets_settings_chosen_on_a_hidden_part(data: str) -> None:
    folder = Path(data) / "lastfm"
    own = EXPERIMENT.run(OwnNetwork(folder / "social.tsv.gz", folder / "ratings.tsv.gz"), quick=True, name="existing")
    [chosen] = own.document["settings"].values()
    known = {(tuned.extra, tuned.ridge): tuned.exposure.as_dict() for tuned in TUNED.values()}
    assert (chosen["extra"], chosen["ridge"]) in known
    assert chosen["exposure"] in known.values()
    assert all(row["paper_ndcg"] is None for row in own.document["rows"])
    assert own.name == "existing"


@pytest.mark.parametrize(
    ("basic", "social", "private", "strangers", "factors", "verdict"),
    [
        (0.1, 0.3, 0.31, 0.1, 0.2, "holds"),
        (0.1, 0.3, 0.31, 0.3, 0.2, "holds with a caveat"),  # strangers do as well
        (0.1, 0.3, 0.31, 0.1, 0.4, "holds with a caveat"),  # no contacts needed
        (0.2, 0.3, 0.31, 0.1, 0.2, "holds with a caveat"),  # less than 2.16 times
        (0.1, 0.3, 0.45, 0.1, 0.2, "holds"),  # better than with contacts
        (0.1, 0.3, 0.26, 0.1, 0.2, "does not hold"),  # not similar
        (0.3, 0.3, 0.29, 0.1, 0.2, "does not hold"),  # not better
    ],
)
def test_the_verdict_follows_its_rule(
    basic: float, social: float, private: float, strangers: float, factors: float, verdict: str
) -> None:
    values = {
        "Basic SERec, RecQ": basic,
        "SERec, RecQ": social,
        "PrivaCT-SERec, RecQ": private,
        "Basic SERec, RecQ, by exposure": basic,
        "PrivaCT-SERec, RecQ, by exposure": private,
        "SERec, RecQ, random users": strangers,
        "implicit ALS": factors,
    }
    rows = [{"dataset": "lastfm", "method": name, "ndcg": value, "map": value / 2} for name, value in values.items()]
    assert check_result_4(rows).verdict == verdict


def test_the_full_table_has_five_folds_and_three_seeds() -> None:
    assert Scale(folds=5, seeds=3) == FULL
    assert Scale(folds=1, seeds=1) == QUICK
