from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privact.aggregator.domain import label_upload as uploaded
from privact.cli.files import read_labels
from privact.protocol.label_files import number_labels


def camps(sizes):
    """Users of each camp rate the same four items, and none of another camp's; camp 3 has the users c3u0, c3u1, ..."""
    return {
        f"c{camp}u{user}": [f"c{camp}i{item}" for item in range(4)] for camp, size in enumerate(sizes) for user in range(size)
    }


def write(path, rated):
    path.write_text("".join(f"{user}\t{item}\t1\n" for user, items in rated.items() for item in items))
    return path


@pytest.fixture
def ratings(tmp_path):
    return write(tmp_path / "ratings.tsv", camps([5, 3]))


def test_users_who_rate_alike_have_the_same_label(ask, tmp_path, ratings):
    told = ask("taste", ratings, "-k", "2", "-o", tmp_path / "labels.tsv")
    users = list(camps([5, 3]))
    labels = read_labels(tmp_path / "labels.tsv", users)
    assert len(set(labels[:5])) == len(set(labels[5:])) == 1
    assert labels[0] != labels[5]
    assert told["groups"] == {labels[0]: 5, labels[5]: 3}
    assert told["users"] == 8


def test_a_person_reads_sizes_and_what_is_not_protected(run, tmp_path, ratings):
    shown = run("taste", ratings, "-k", "2", "-o", tmp_path / "labels.tsv").stdout
    assert sorted(line.split()[-1] for line in shown.splitlines()[1:3]) == ["3", "5"]
    words = " ".join(shown.split())
    for said in (
        "come from ratings, never from contacts",
        "everyone who downloads",
        "in part",
        "without ratings are in no group",
    ):
        assert said in words


def test_the_same_seed_gives_the_same_bytes_and_another_seed_may_not(run, tmp_path):
    liked = np.random.default_rng(5).random((60, 25)) < 0.3
    rated = {f"u{user}": [f"i{item}" for item in np.flatnonzero(row)] for user, row in enumerate(liked)}
    ratings = write(tmp_path / "ratings.tsv", rated)
    for name, seed in (("one", "7"), ("again", "7"), ("other", "8")):
        run("taste", ratings, "-k", "4", "--seed", seed, "-o", tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "again").read_bytes()
    assert (tmp_path / "one").read_bytes() != (tmp_path / "other").read_bytes()


def test_learn_and_the_aggregator_number_the_groups_alike_even_if_there_are_more_than_nine(run, tmp_path):
    rated = camps(range(3, 15))
    run("taste", write(tmp_path / "ratings.tsv", rated), "-k", "12", "--factors", "12", "-o", tmp_path / "labels.tsv")
    named = read_labels(tmp_path / "labels.tsv", list(rated))
    numbered, n_groups = number_labels(named)
    assert n_groups == 12
    assert [int(label.removeprefix("taste-")) - 1 for label in named] == numbered
    table = uploaded.build_table(uploaded.read_labels((tmp_path / "labels.tsv").read_bytes()), bytes(16))
    assert table.n_labels == 12
    assert table.labels_of(rated).tolist() == numbered


def test_ids_that_look_like_something_else_are_found_by_every_reader(run, tmp_path):
    users = ["user", 'say "hi"', "a,b", "@ada@server.example", "Zoë"]
    table = {"user": users, "item": ["waltz"] * 5, "rating": [1.0] * 5}
    pq.write_table(pa.table(table), tmp_path / "ratings.parquet")
    assert run("taste", tmp_path / "ratings.parquet", "-k", "1", "-o", tmp_path / "labels.tsv").exit_code == 0
    assert read_labels(tmp_path / "labels.tsv", users) == ["taste-1"] * 5
    source = json.loads(uploaded.read_labels((tmp_path / "labels.tsv").read_bytes()))
    assert source == dict.fromkeys(["user", 'say "hi"', "a,b", "ada@server.example", "zoë"], "taste-1")


def test_fewer_groups_than_asked_for_are_said(run, tmp_path):
    ratings = write(tmp_path / "ratings.tsv", {"ann": ["waltz"], "bob": ["waltz"], "cat": ["waltz"]})
    shown = run("taste", ratings, "-k", "2", "-o", tmp_path / "labels.tsv").stdout
    assert "fewer than 2 groups because users do not differ" in " ".join(shown.split())
    assert read_labels(tmp_path / "labels.tsv", ["ann", "bob", "cat"]) == ["taste-1"] * 3


def test_learn_takes_the_labels_as_bins(ask, tmp_path, contacts):
    rated = {user: ["waltz"] for user in ("ann", "bob", "cat", "dan")} | {user: ["tango"] for user in ("eve", "fay", "gus")}
    labels = tmp_path / "labels.tsv"
    ask("taste", write(tmp_path / "ratings.tsv", rated), "-k", "2", "-o", labels)
    learned = ask("learn", contacts, "--labels", labels, "--no-noise", "--seed", "1", "-o", tmp_path / "learned.hct")
    assert learned["parameters"]["n_bins"] == 2
    assert learned["users_without_label"] == 1  # hal has no ratings


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"-k": "9"}, "9 taste groups of 8 users with ratings: choose from 1 to 8"),
        ({"-k": "0"}, "-k 0 cannot be"),
        ({"-k": "65537"}, "-k 65537 cannot be"),
        ({"--factors": "0"}, "--factors 0 cannot be"),
        ({"--seed": "-1"}, "--seed -1 cannot be"),
        ({"": "none.tsv"}, "none.tsv: cannot be read"),
        ({"-o": "nowhere/labels.tsv"}, "there is no folder nowhere"),
    ],
)
def test_mistakes_are_one_line_and_leave_the_file_that_was_there(run, tmp_path, ratings, change, told):
    kept = tmp_path / "labels.tsv"
    kept.write_text("ann\tred\n")
    words = {"": ratings, "-k": "2", "-o": kept, **change}
    done = run("taste", words.pop(""), *(part for pair in words.items() for part in pair))
    assert done.exit_code == 2
    assert told in done.stderr
    assert done.stderr.count("\n") == 1
    assert kept.read_text() == "ann\tred\n"
    assert {path.name for path in tmp_path.iterdir()} == {"labels.tsv", "ratings.tsv"}


@pytest.mark.parametrize(
    ("users", "told"),
    [
        (["Ada", "@ada"], "'Ada' and '@ada' are one user"),
        (["a\nb", "c"], "'a\\nb' cannot stand"),
        ([" a", "c"], "' a' cannot stand"),
    ],
)
def test_ids_that_readers_would_not_find_are_refused(run, tmp_path, users, told):
    pq.write_table(pa.table({"user": users, "item": ["waltz"] * 2}), tmp_path / "ratings.parquet")
    done = run("taste", tmp_path / "ratings.parquet", "-k", "1", "-o", tmp_path / "labels.tsv")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert told in done.stderr
    assert not (tmp_path / "labels.tsv").exists()
