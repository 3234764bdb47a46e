"""`privact learn --reports URL --round ID` learns what the aggregator's worker releases: the same bytes."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from privact.aggregator.jobs.learning import learn_stored_round, read_stored_table
from privact.aggregator.storage.stored_reports import read_round
from privact.cli.main import app
from privact.tree.hct import HierarchicalClusterTree


@pytest.fixture
def learn(stored_reports, tmp_path):
    url = stored_reports().settings.database_url

    def learn(*options, round_id="spring"):
        arguments = ["learn", "--reports", url, "--round", round_id, "-o", tmp_path / "tree.hct", *options]
        return url, CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)

    return learn


def test_it_is_the_tree_that_is_released(learn, tmp_path):
    url, result = learn()
    assert (result.exit_code, result.stderr) == (0, "")
    round = read_round(url, "spring")
    table = read_stored_table(url, round, tmp_path / "table")
    learn_stored_round(url, round, table).tree.save(tmp_path / "released.hct")
    assert (tmp_path / "tree.hct").read_bytes() == (tmp_path / "released.hct").read_bytes()
    assert "in round spring" in " ".join(result.stdout.split())


def test_another_seed_is_told_in_the_file(learn, tmp_path):
    assert learn("--seed", 5)[1].exit_code == 0
    assert HierarchicalClusterTree.load(tmp_path / "tree.hct").parameters["search_seed"] == 5


@pytest.mark.parametrize(
    ("options", "round_id", "message"),
    [
        (["--epsilon", "1"], "spring", "--epsilon 1 is not the 4 of round 'spring'"),
        (["--label-bins"], "spring", "the bins of round 'spring' are random"),
        ([], "winter", "no round 'winter'"),
    ],
)
def test_what_contradicts_the_round_is_refused(learn, options, round_id, message, tmp_path):
    _, result = learn(*options, round_id=round_id)
    assert result.exit_code != 0
    assert message in result.stderr
    assert not (tmp_path / "tree.hct").exists()
