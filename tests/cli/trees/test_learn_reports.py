from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from privact.learn.evidence.count_posterior import CountPosterior
from privact.learn.evidence.evidence_file import read_evidence
from privact.learn.evidence.share_posterior import SharePosterior
from privact.learn.search.learn_tree import learn_tree
from privact.tree.hct import HierarchicalClusterTree

REPORTS = np.random.default_rng(0).poisson(3.0, (60, 4)) + np.random.default_rng(1).integers(-2, 3, (60, 4))
USERS = [f"user{i}" for i in range(60)]


@pytest.fixture
def reports(tmp_path):
    path = tmp_path / "reports.parquet"
    parquet.write_table(pa.table({"user": USERS, "counts": REPORTS.tolist()}), path)
    return path


def test_reports_become_the_tree_of_their_posterior(run, reports, tmp_path):
    output = tmp_path / "tree.hct"
    result = run("learn", "--reports", reports, "--epsilon", 1, "-o", output, "--seed", 3)
    assert (result.exit_code, result.stderr) == (0, "")
    tree = HierarchicalClusterTree.load(output)
    posterior = CountPosterior.fit(REPORTS, 0.5, equal_bins=True)
    assert tree == learn_tree(posterior.embed(REPORTS), random_state=3, users=USERS)
    assert dict(tree.parameters) == {
        "epsilon": 1.0, "epsilon_report": 0.5, "n_bins": 4, "bins": "random", "denoise": True, "search": "linkage+gentree",
        "balance": 0.03,
    }  # fmt: skip
    words = " ".join(result.stdout.split())
    assert "users 60 bins 4 random noise epsilon 1 per contact, denoised" in words
    assert "simulated" not in words  # the noise was there already
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_the_same_reports_in_a_numpy_file_have_numbers_for_ids(ask, reports, tmp_path):
    output, again = tmp_path / "tree.hct", tmp_path / "again.hct"
    np.save(tmp_path / "reports.npy", REPORTS)
    found = ask("learn", "--reports", tmp_path / "reports.npy", "--epsilon", 1, "-o", output, "--seed", 3)
    ask("learn", "--reports", reports, "--epsilon", 1, "-o", again, "--seed", 3)
    assert (found["users"], found["workers"], found["output"]) == (60, 1, str(output))
    tree = HierarchicalClusterTree.load(output)
    assert tree.users is None
    assert np.array_equal(tree.left, HierarchicalClusterTree.load(again).left)


def test_bins_that_are_labels_and_noise_that_stays(ask, reports, tmp_path):
    found = ask("learn", "--reports", reports, "--epsilon", 2, "--label-bins", "--no-denoise", "-o", tmp_path / "tree.hct")
    assert (found["parameters"]["bins"], found["parameters"]["denoise"]) == ("labels", False)
    tree = HierarchicalClusterTree.load(tmp_path / "tree.hct")
    assert tree == learn_tree(REPORTS, users=USERS)


def test_nothing_is_left_in_the_scratch_folder(run, reports, tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    run("learn", "--reports", reports, "--epsilon", 1, "-o", tmp_path / "tree.hct", "--scratch", scratch)
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--reports", "{reports}"], "needs --epsilon"),
        (["--reports", "{reports}", "--epsilon", "0"], "epsilon"),
        (["{reports}", "--reports", "{reports}"], "give either a graph of contacts or --reports"),
        ([], "give either a graph of contacts or --reports"),
        (["--reports", "{reports}", "--epsilon", "1", "--round", "r1"], "--round r1 goes with a database"),
        (["--reports", "sqlite:///{folder}/no.db", "--epsilon", "1"], "name one with --round"),
        (["--reports", "sqlite:///{folder}/no.db", "--round", "r1"], "no database"),
        (["--reports", "{reports}", "--epsilon", "1", "--bins", "4"], "--bins goes with a graph of contacts"),
        (["--reports", "{reports}", "--epsilon", "1", "--largest-component"], "--largest-component goes with a graph"),
        (["--reports", "{folder}/none.parquet", "--epsilon", "1"], "there is no such file"),
        (["--reports", "{reports}", "--epsilon", "1", "--workers", "2", "--cluster", "local:2"], "exclude each other"),
        (["--reports", "{reports}", "--epsilon", "1", "--cluster", "nowhere"], "neither tcp://HOST:PORT nor local:N"),
        (["--reports", "{reports}", "--epsilon", "1", "--scratch", "{folder}/none"], "cannot make a folder in"),
        (["{reports}", "--label-bins"], "--label-bins goes with --reports"),
    ],
)
def test_what_does_not_go_together_is_refused_in_one_line(run, reports, tmp_path, options, message):
    filled = [option.format(reports=reports, folder=tmp_path) for option in options]
    result = run("learn", *filled, "-o", tmp_path / "tree.hct")
    assert result.exit_code != 0
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not (tmp_path / "tree.hct").exists()


def test_two_processes_learn_a_graph_as_one_does(run, tmp_path, monkeypatch):
    """Where users are few the option changes nothing but where the work could be done."""
    path = tmp_path / "contacts.tsv"
    path.write_text("a\tb\nb\tc\nc\td\nd\ta\n")
    for workers in (1, 2):
        assert run("learn", path, "--seed", 1, "--workers", workers, "-o", tmp_path / f"{workers}.hct").exit_code == 0
    assert (tmp_path / "1.hct").read_bytes() == (tmp_path / "2.hct").read_bytes()


@pytest.mark.parametrize("profile", ["shares", "shares+own"])
def test_reports_are_compared_by_shares_and_by_the_own_label(ask, reports, tmp_path, profile):
    numbers = np.arange(60) % 4
    labels = tmp_path / "labels.tsv"
    labels.write_text("".join(f"{user}\tlabel{number}\n" for user, number in zip(USERS, numbers, strict=True)))
    output = tmp_path / "tree.hct"
    options = ("--profile", profile, "--labels", labels, "--seed", 3, "-o", output)
    found = ask("learn", "--reports", reports, "--epsilon", 1, *options)
    posterior = SharePosterior.fit(REPORTS, 0.5, own=profile == "shares+own")
    assert HierarchicalClusterTree.load(output) == learn_tree(posterior.embed(REPORTS, numbers), random_state=3, users=USERS)
    assert (found["parameters"]["bins"], found["parameters"]["profile"]) == ("labels", profile)


def test_labels_that_are_not_the_bins_are_refused(run, reports, tmp_path):
    labels = tmp_path / "labels.tsv"
    labels.write_text("".join(f"{user}\tsame\n" for user in USERS))
    result = run("learn", "--reports", reports, "--epsilon", 1, "--labels", labels, "-o", tmp_path / "tree.hct")
    assert result.exit_code != 0
    assert "gives the users 1 labels, but" in result.stderr


def test_evidence_is_written_for_recommendations(run, reports, tmp_path):
    evidence = tmp_path / "evidence.json"
    result = run("learn", "--reports", reports, "--epsilon", 1, "-o", tmp_path / "tree.hct", "--evidence", evidence)
    assert result.exit_code == 0
    posterior = CountPosterior.fit(REPORTS, 0.5, equal_bins=True)
    assert read_evidence(evidence).expected_counts(REPORTS).tobytes() == posterior.counts(REPORTS).tobytes()
