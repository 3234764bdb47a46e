from __future__ import annotations

import numpy as np
import pytest

from privact.errors import InputError
from privact.learn.evidence.count_posterior import CountPosterior
from privact.learn.evidence.profile import RoundReports
from privact.learn.evidence.profiles import ONE_ROUND_PROFILES
from privact.learn.evidence.share_posterior import SharePosterior
from privact.learn.limits import Limits
from privact.learn.pipeline import LearnSettings, embed_rounds, fit_evidence, learn_from_reports
from privact.learn.reports.report_table import ReportTable, write_report_table
from privact.learn.scale.engines import open_engine
from privact.learn.search.learn_tree import learn_tree
from privact.tree.embedding import Embedding
from privact.tree.user_ids import UserIds

SEEDED = LearnSettings(random_state=3)


@pytest.fixture(scope="module")
def matrix():
    rng = np.random.default_rng(0)
    return rng.poisson(np.outer(6.0 * rng.pareto(1.6, 400) + 1.0, np.full(4, 0.25))) + rng.integers(-2, 3, (400, 4))


def of(matrix, epsilon_report=0.5, **how):
    return RoundReports(ReportTable(matrix, None), epsilon_report, **how)


def test_it_is_the_tree_of_the_posterior(matrix, tmp_path):
    names = [f"user{i}" for i in range(400)]
    table = write_report_table([(names[:150], matrix[:150]), (names[150:], matrix[150:])], tmp_path / "reports")
    posterior = CountPosterior.fit(matrix, 0.5, equal_bins=True)
    expected = learn_tree(posterior.embed(matrix), random_state=3, users=names, return_trace=True)
    learned = learn_from_reports(RoundReports(table, 0.5), SEEDED, parameters={"round": "spring"})
    facts = {"round": "spring", "denoise": True, "search": "linkage+gentree", "balance": 0.03}
    assert learned.tree == expected.tree.with_parameters(facts)
    assert learned.cost_trace.tolist() == expected.cost_trace.tolist()
    assert learned.evidence.expected_counts(matrix).tolist() == posterior.counts(matrix).tolist()


@pytest.mark.parametrize("how", [{"epsilon_report": None}, {"epsilon_report": 0.5, "denoise": False}])
def test_without_noise_or_denoising_reports_are_taken_as_they_are(matrix, how):
    expected = learn_tree(Embedding.from_counts(matrix), random_state=3)
    denoise = how.get("denoise", True)
    learned = learn_from_reports(of(matrix, how["epsilon_report"]), LearnSettings(denoise=denoise, random_state=3))
    assert learned.tree == expected.with_parameters({"denoise": denoise, "search": "linkage+gentree", "balance": 0.03})
    assert learned.evidence.expected_counts(matrix) is matrix


def test_bins_that_are_labels_are_denoised_as_such(matrix):
    uneven = matrix * np.array([1, 1, 1, 3])
    posterior = CountPosterior.fit(uneven, 0.5, equal_bins=False)
    expected = learn_tree(posterior.embed(uneven), random_state=3)
    learned = learn_from_reports(of(uneven, equal_bins=False), SEEDED)
    assert learned.tree == expected.with_parameters(learned.tree.parameters)


@pytest.mark.parametrize("own", [False, True])
def test_shares_are_compared_with_or_without_own_labels(matrix, own):
    labels = np.random.default_rng(1).integers(-1, 4, 400)
    posterior = SharePosterior.fit(matrix, 0.5, own=own)
    expected = learn_tree(posterior.embed(matrix, labels), random_state=3)
    profile = "shares+own" if own else "shares"
    learned = learn_from_reports(of(matrix, equal_bins=False, own_labels=labels), LearnSettings(profile, random_state=3))
    assert learned.tree == expected.with_parameters(learned.tree.parameters)
    assert learned.tree.parameters["profile"] == profile


def test_own_labels_are_asked_for_where_they_count(matrix):
    with pytest.raises(InputError, match="needs public labels as bins"):
        learn_from_reports(of(matrix), LearnSettings("shares+own"))
    with pytest.raises(InputError, match=r"own labels have shape \(3,\)"):
        learn_from_reports(of(matrix, own_labels=np.zeros(3, int)), LearnSettings("shares+own"))


def test_very_many_users_go_through_parts(matrix, monkeypatch):
    """Points are made for a part at a time, never for all users."""
    limits = Limits(exact_start=50, part=60, sketch_sample=50, split_sample=50, routed=64, part_linkage=30)
    made = []
    embed = CountPosterior.embed

    def watched(self, rows):
        made.append(len(rows))
        return embed(self, rows)

    monkeypatch.setattr(CountPosterior, "embed", watched)
    users = UserIds.of([f"user{i}" for i in range(400)])
    tree = learn_from_reports(RoundReports(ReportTable(matrix, users), 0.5), SEEDED, limits=limits).tree
    assert sorted(tree.users) == sorted(users)
    assert max(made) <= 64


@pytest.mark.parametrize("profile", ONE_ROUND_PROFILES)
def test_every_profile_is_learned_in_a_pool_as_in_this_process(matrix, profile, tmp_path):
    np.save(tmp_path / "reports.npy", matrix.astype(np.int32))
    mapped = np.load(tmp_path / "reports.npy", mmap_mode="r")
    reports = of(mapped, equal_bins=False, own_labels=np.arange(400) % 4)
    limits = Limits(exact_start=50, part=150, sketch_sample=60, part_linkage=60)
    settings = LearnSettings(profile, random_state=3)
    here = learn_from_reports(reports, settings, limits=limits).tree
    with open_engine(workers=2, scratch=tmp_path) as engine:
        assert learn_from_reports(reports, settings, limits=limits, engine=engine).tree == here


def test_one_report_is_too_few():
    with pytest.raises(InputError, match="1 reports, but a tree needs at least 2"):
        learn_from_reports(of(np.array([[1, 2]])))


def test_a_profile_of_one_round_refuses_two(matrix):
    with pytest.raises(InputError, match="profile 'counts' compares users by one round, not 2"):
        learn_from_reports([of(matrix), of(matrix)])
    with pytest.raises(InputError, match="rounds of 400 and 9 reports"):
        learn_from_reports([of(matrix), of(matrix[:9])])
    with pytest.raises(InputError, match="no round given"):
        learn_from_reports([])


def test_rows_of_several_rounds_stand_side_by_side(matrix):
    evidence = fit_evidence(of(matrix), "counts")
    rows = embed_rounds(evidence, [of(matrix), of(10 * matrix)]).rows
    assert (len(rows), rows.shape) == (400, (400, 8))
    assert rows[np.array([7, 2])].tolist() == np.hstack([matrix, 10 * matrix])[[7, 2]].tolist()
