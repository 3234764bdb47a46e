from __future__ import annotations

import numpy as np
import pytest

from privact.errors import InputError
from privact.experiments.report.recommendation_rows import CONTROLS, ROW, refuse_without_controls, row
from privact.experiments.running.significance import paired_p_value


def made(control=None, dataset="lastfm", **extra):
    values = {"epsilon": 1.0, "private": True, "ndcg": [0.1, 0.3], "average_precision": [0.2], "folds": 2, "seeds": 1}
    return row(dataset, "cold start", str(control), control=control, **{**values, **extra})


def test_a_row_has_exactly_the_agreed_keys():
    found = made(paper=(0.5, 0.25))
    assert tuple(found) == ROW
    assert len(ROW) == 14
    assert (found["ndcg"], found["map"], found["paper_ndcg"], found["paper_map"]) == pytest.approx((0.2, 0.2, 0.5, 0.25))
    assert found["ndcg_sd"] == pytest.approx(np.sqrt(0.02))
    assert found["map_sd"] == 0.0
    assert made()["paper_ndcg"] is None


def test_a_table_with_every_control_is_published():
    rows = [made(), *(made(control) for control in CONTROLS)]
    assert refuse_without_controls(rows) == rows


@pytest.mark.parametrize("missing", CONTROLS)
def test_a_table_without_a_control_is_not(missing):
    rows = [made(), *(made(control) for control in CONTROLS if control != missing)]
    with pytest.raises(InputError, match=f"the table of lastfm, cold start, has no {missing}: run every control"):
        refuse_without_controls(rows)
    with pytest.raises(InputError, match="delicious"):  # another network's controls do not count
        refuse_without_controls([*(made(control) for control in CONTROLS), made(dataset="delicious")])


def test_other_rows_and_no_rows_are_refused():
    rows = [made(control) for control in CONTROLS]
    with pytest.raises(InputError, match="lacks or adds ndcg_sd"):
        refuse_without_controls([*rows, {key: 0 for key in ROW if key != "ndcg_sd"}])
    with pytest.raises(InputError, match="lacks or adds secret"):
        refuse_without_controls([*rows, {**rows[0], "secret": 1}])
    with pytest.raises(InputError, match="no rows"):
        refuse_without_controls([])
    with pytest.raises(InputError, match="control 'luck' is not one of"):
        made("luck")


class TestPairedTest:
    def test_by_counting_all_signs(self):
        differences = np.array([3.0, 1.0, -1.0])  # sum 3; of 8 signs 3+1+1, 3+1-1, 3-1+1 are as large
        found = paired_p_value(differences, np.random.default_rng(0), 40_000)
        assert found == pytest.approx(3 / 8, abs=5 * np.sqrt(0.25 / 40_000))

    def test_no_difference_is_no_evidence_and_a_constant_one_is_much(self):
        assert paired_p_value(np.zeros(5), np.random.default_rng(0)) == 1.0
        assert paired_p_value(np.full(40, 0.1), np.random.default_rng(0), 999) == pytest.approx(1 / 1000)
        assert paired_p_value(np.full(40, -0.1), np.random.default_rng(0), 999) == 1.0

    def test_chance_alone_is_seldom_significant(self):
        rng = np.random.default_rng(1)
        found = [paired_p_value(rng.normal(size=30), rng, 199) for _ in range(300)]
        assert np.mean(np.array(found) <= 0.1) < 0.1 + 4 * np.sqrt(0.09 / 300)
