"""Inference of groups from reports in files: small enough to see that it finds them."""

import numpy as np

from privact.bench.rounds.million import draw_series, measure_million
from privact.learn.evidence.series.group_posterior import infer_groups


def test_a_drawn_series_holds_groups_that_inference_finds(tmp_path):
    rounds = draw_series(2_000, tmp_path, np.random.default_rng(1))
    assert [each.reports.shape for each in rounds] == [(2_000, 13)] * 4
    assert all(isinstance(each.reports, np.memmap) for each in rounds)
    assert infer_groups(rounds).sees_communities


def test_a_fresh_process_measures_time_and_memory():
    found = measure_million(1_000)
    assert found["users"] == 1_000
    assert found["processor_seconds"] > 0
    assert found["peak_mb"] > 50
