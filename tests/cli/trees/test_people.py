"""privact people: from files to a list, without those who opted out."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from privact import PrivaCT
from privact.cli.main import app
from privact.simulate.known_graphs import make_cliques


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    model = PrivaCT(4.0, bins=np.repeat([0, 1], 30), profile="shares+own", random_state=1).fit(make_cliques([30, 30]).graph)
    model.tree_.save(folder / "tree.hct")
    np.save(folder / "reports.npy", model.reports_)
    (folder / "labels.tsv").write_text("".join(f"{user}\t{'ab'[user // 30]}\n" for user in range(60)))
    (folder / "out.txt").write_text("1\n2\nsomebody else\n")
    return folder


def run(files, *words: str):
    options = ["--tree", "tree.hct", "--reports", "reports.npy", "--epsilon", "4", "--user", "0"]
    named = [str(files / word) if "." in word else word for word in [*options, *words]]
    return CliRunner().invoke(app, ["people", *named])


def test_users_of_the_own_label_are_listed_and_who_opted_out_is_not(files):
    done = run(files, "--labels", "labels.tsv", "--hide", "out.txt", "-k", "27", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.output)["people"]
    assert {int(each["user"]) for each in found} == set(range(3, 30))
    assert sorted(found[0]) == ["rank", "reason", "user"]


def test_without_labels_the_list_is_of_the_best_connected(files):
    done = run(files, "-k", "3")
    assert done.exit_code == 0, done.output
    assert "rank" in done.output


def test_labels_that_were_not_the_bins_are_refused(files):
    (files / "wrong.tsv").write_text("".join(f"{user}\t{user % 5}\n" for user in range(60)))
    done = run(files, "--labels", "wrong.tsv")
    assert done.exit_code != 0
    assert "give the labels that were the bins" in done.output


def test_ratings_need_the_labels_that_were_the_bins(files):
    lines = "".join(f"{user}\titem {user // 30} {number}\t1\n" for user in range(60) for number in range(3))
    (files / "ratings.tsv").write_text("user\titem\trating\n" + lines)
    done = run(files, "--labels", "labels.tsv", "--ratings", "ratings.tsv", "-k", "5", "--json")
    assert done.exit_code == 0, done.output
    assert {int(each["user"]) for each in json.loads(done.output)["people"]} <= set(range(1, 30))
    done = run(files, "--ratings", "ratings.tsv")
    assert done.exit_code != 0
    assert "without --labels" in done.output
