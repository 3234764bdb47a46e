from __future__ import annotations

import json

import numpy as np
import pytest

from privact.errors import FileFormatError, InputError
from privact.learn.evidence.evidence_file import read_evidence, write_evidence
from privact.learn.evidence.profile import RoundReports
from privact.learn.evidence.profiles import ONE_ROUND_PROFILES
from privact.learn.pipeline import fit_evidence
from privact.learn.reports.report_table import ReportTable


@pytest.fixture(scope="module")
def reports():
    rng = np.random.default_rng(0)
    return rng.poisson(np.outer(3.0 * rng.pareto(1.6, 200) + 1.0, [0.1, 0.2, 0.7])) + rng.integers(-2, 3, (200, 3))


@pytest.mark.parametrize("profile", ONE_ROUND_PROFILES)
@pytest.mark.parametrize("denoise", [True, False])
@pytest.mark.parametrize("equal_bins", [True, False])
def test_what_was_written_makes_the_same_points_and_counts(reports, profile, denoise, equal_bins, tmp_path):
    labels = np.arange(200) % 4 - 1
    fitted = fit_evidence(RoundReports(ReportTable(reports, None), 0.5, equal_bins, labels), profile, denoise)
    write_evidence(fitted, tmp_path / "evidence.json")
    kept = read_evidence(tmp_path / "evidence.json")
    newcomers = np.vstack([reports, [[500, -30, 2]]])
    their_labels = np.append(labels, 2)
    expected, found = (each.embed(newcomers, their_labels) for each in (fitted, kept))
    assert kept.profile == profile
    assert found.points.tobytes() == expected.points.tobytes()
    assert found.weights.tobytes() == expected.weights.tobytes()
    assert kept.expected_counts(newcomers).tobytes() == fitted.expected_counts(newcomers).tobytes()


def test_a_file_is_as_large_whether_few_or_many_reported(reports, tmp_path):
    """It holds estimates, not reports."""
    for times in (1, 40):
        many = np.tile(reports, (times, 1))
        write_evidence(fit_evidence(RoundReports(ReportTable(many, None), 0.5), "counts"), tmp_path / f"{times}.json")
    sizes = [(tmp_path / f"{times}.json").stat().st_size for times in (1, 40)]
    assert sizes[1] < 1.2 * sizes[0] < 20_000


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 1, "profile": "counts"}', '{"version": 1, "profile": 3}'])
def test_other_files_are_refused_in_one_line(text, tmp_path):
    (tmp_path / "evidence.json").write_text(text)
    with pytest.raises((FileFormatError, InputError), match=r"learn the tree again|is unknown") as refused:
        read_evidence(tmp_path / "evidence.json")
    assert "\n" not in str(refused.value)


def test_a_later_version_and_a_missing_file_are_refused(tmp_path):
    (tmp_path / "evidence.json").write_text(json.dumps({"version": 2}))
    with pytest.raises(FileFormatError, match="has version 2, not 1"):
        read_evidence(tmp_path / "evidence.json")
    with pytest.raises(InputError, match=r"cannot read .*none\.json: no such file"):
        read_evidence(tmp_path / "none.json")
