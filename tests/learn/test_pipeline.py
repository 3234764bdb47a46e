from __future__ import annotations

import numpy as np
import pytest

from privact.errors import InputError
from privact.learn.evidence.count_posterior import CountPosterior
from privact.learn.pipeline import learn_reports
from privact.learn.reports.table import Reports, gathered
from privact.learn.scale import partition
from privact.learn.search.learn_tree import learn_tree
from privact.tree.embedding import Embedding
from privact.tree.users import UserIds


@pytest.fixture(scope="module")
def matrix():
    rng = np.random.default_rng(0)
    return rng.poisson(np.outer(6.0 * rng.pareto(1.6, 400) + 1.0, np.full(4, 0.25))) + rng.integers(-2, 3, (400, 4))


def test_it_is_the_tree_of_the_posterior(matrix, tmp_path):
    names = [f"user{i}" for i in range(400)]
    reports = gathered([(names[:150], matrix[:150]), (names[150:], matrix[150:])], tmp_path / "reports")
    posterior = CountPosterior.fit(matrix, 0.5, equal_bins=True)
    expected = learn_tree(posterior.embed(matrix), random_state=3, users=names)
    assert learn_reports(reports, 0.5, random_state=3) == expected


def test_without_epsilon_reports_are_taken_as_they_are(matrix):
    expected = learn_tree(Embedding.from_counts(matrix), random_state=3)
    assert learn_reports(Reports(matrix, None), None, random_state=3) == expected


def test_bins_that_are_labels_are_denoised_as_such(matrix):
    uneven = matrix * np.array([1, 1, 1, 3])
    posterior = CountPosterior.fit(uneven, 0.5, equal_bins=False)
    expected = learn_tree(posterior.embed(uneven), random_state=3)
    assert learn_reports(Reports(uneven, None), 0.5, equal_bins=False, random_state=3) == expected


def test_very_many_users_go_through_parts(matrix, monkeypatch):
    """Points are made for a part at a time, never for everybody."""
    from privact.learn.scale import part
    from privact.learn.search import linkage

    monkeypatch.setattr(linkage, "EXACT_LIMIT", 50)
    monkeypatch.setattr(partition, "PART", 60)
    monkeypatch.setattr(partition, "SAMPLE", 50)
    monkeypatch.setattr(partition, "ROUTED", 64)
    monkeypatch.setattr(part, "EXACT", 30)
    made = []
    embed = CountPosterior.embed

    def watched(self, rows):
        made.append(len(rows))
        return embed(self, rows)

    monkeypatch.setattr(CountPosterior, "embed", watched)
    users = UserIds.of([f"user{i}" for i in range(400)])
    tree = learn_reports(Reports(matrix, users), 0.5, random_state=3)
    assert sorted(tree.users) == sorted(users)
    assert max(made[:-7]) <= 64  # all but the sums of the top, which come in larger pieces


def test_one_report_is_too_few():
    with pytest.raises(InputError, match="1 reports, but a tree needs at least 2"):
        learn_reports(Reports(np.array([[1, 2]]), None), 0.5)
