"""Playing a whole network gives what its devices would have given."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chisquare, dlaplace

from privact.device.degrees import degree_vector
from privact.errors import InputError, ProtocolError
from privact.network.graph import ContactGraph
from privact.protocol.bins import assign_round_bins
from privact.protocol.labels import LabelTable
from privact.protocol.round import Round
from privact.simulate import reports
from privact.simulate.reports import degree_vectors, play_devices, simulate_reports, simulated_noise

NO_NOISE = 2000.0  # noise other than 0 once in e^1000


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.fixture
def star() -> ContactGraph:
    """A hub with five spokes, two of whom know each other, and one user without contacts."""
    pairs = np.array([[0, 1], [0, 2], [0, 3], [0, 4], [0, 5], [1, 2]])
    return ContactGraph.from_rows(pairs, users=["Hub", "@ada", "bob", "cleo", "dora", "eve", "alone"])


@pytest.fixture
def random_graph() -> ContactGraph:
    pairs = rng(1).integers(0, 300, size=(2000, 2))
    return ContactGraph.from_rows(pairs, users=[f"@User{number}@S.example" for number in range(300)])


def test_every_user_counts_contacts_per_bin(star: ContactGraph) -> None:
    bins = np.array([0, 1, 1, 2, 0, -1, 0])
    assert degree_vectors(star, bins, 3).tolist() == [
        [1, 2, 1],  # the hub: dora; ada and bob; cleo; eve is in no bin
        [1, 1, 0],
        [1, 1, 0],
        [1, 0, 0],
        [1, 0, 0],
        [1, 0, 0],  # a user in no bin still counts its own contacts
        [0, 0, 0],
    ]


def test_one_bin_holds_the_degree(random_graph: ContactGraph) -> None:
    vectors = degree_vectors(random_graph, np.zeros(300, dtype=np.int32), 1)
    assert vectors[:, 0].tolist() == np.diff(random_graph.indptr).tolist()
    assert vectors.dtype == np.int64


@pytest.mark.parametrize("block", [1, 7, 64, 10**9])
def test_blocks_do_not_show_in_the_result(random_graph: ContactGraph, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    bins = rng(2).integers(-1, 5, size=300)
    expected = np.zeros((300, 5), dtype=np.int64)
    for user in range(300):
        for contact in random_graph.indices[random_graph.indptr[user] : random_graph.indptr[user + 1]]:
            if bins[contact] >= 0:
                expected[user, bins[contact]] += 1
    monkeypatch.setattr(reports, "_BLOCK", block)
    assert np.array_equal(degree_vectors(random_graph, bins, 5), expected)


@pytest.mark.parametrize(
    ("bins", "n_bins"),
    [([0, 1], 2), ([0, 1, 2, 0, 0, 0, 3], 3), ([0, -2, 0, 0, 0, 0, 0], 3), ([0.0] * 7, 3), ([0] * 7, 0)],
    ids=["too few", "too high", "too low", "fractions", "no bins"],
)
def test_bins_that_do_not_fit_the_graph_are_refused(star: ContactGraph, bins: list[int], n_bins: int) -> None:
    with pytest.raises(InputError, match="bins"):
        degree_vectors(star, np.array(bins), n_bins)


def test_simulation_counts_what_each_device_counts(random_graph: ContactGraph) -> None:
    round = Round(id="r", epsilon=1.0, n_bins=5, n_users=300, seed=bytes(16))
    devices = [degree_vector(random_graph.neighbours(user), round, owner=user) for user in random_graph.users]
    assert np.array_equal(degree_vectors(random_graph, assign_round_bins(random_graph.users, round), 5), np.stack(devices))


def test_played_devices_report_their_own_counts(random_graph: ContactGraph) -> None:
    round = Round(id="r", epsilon=NO_NOISE, n_bins=5, n_users=300, seed=bytes(16))
    exact = degree_vectors(random_graph, assign_round_bins(random_graph.users, round), 5)
    assert np.array_equal(play_devices(random_graph, round), exact)


def test_played_devices_use_the_label_table(star: ContactGraph) -> None:
    table = LabelTable.from_labels({"ada": 0, "bob": 1, "hub": 1}, 2, key=bytes(16))
    round = Round(id="r", epsilon=NO_NOISE, n_bins=2, n_users=7, bins="labels", labels_digest=table.digest())
    assert play_devices(star, round, table).tolist() == [[1, 1], [0, 2], [1, 1], [0, 1], [0, 1], [0, 1], [0, 0]]


def test_played_devices_add_noise_and_show_progress(star: ContactGraph) -> None:
    round = Round(id="r", epsilon=0.01, n_bins=7, n_users=7, seed=bytes(16))
    seen: list[tuple[int, int]] = []
    reports = play_devices(star, round, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(done, 7) for done in range(1, 8)]
    assert np.count_nonzero(np.abs(reports) > 7) > 24  # each entry of scale 200 is within 7 once in 27


def test_users_whom_devices_cannot_tell_apart_are_refused() -> None:
    graph = ContactGraph.from_edges([("Ada", "bob"), ("ada", "bob")])
    round = Round(id="r", epsilon=1.0, n_bins=1, n_users=3, seed=bytes(16))
    with pytest.raises(InputError, match="'Ada' and 'ada' are one id on a device"):
        play_devices(graph, round)


def chance_under_the_law(noise: NDArray[np.int64], epsilon_report: float) -> float:
    """Chi-square probability of these values if P(k) is proportional to exp(-epsilon_report |k|)."""
    law = dlaplace(epsilon_report)
    edge = int(law.isf(200 / noise.size))  # values beyond it are one cell a side, of at least 200 expected values
    cells = np.array([law.cdf(-edge), *law.pmf(np.arange(-edge + 1, edge)), law.sf(edge - 1)])
    observed = np.bincount(np.clip(noise.ravel(), -edge, edge) + edge, minlength=cells.size)
    return float(chisquare(observed, noise.size * cells).pvalue)


@pytest.mark.parametrize("epsilon_report", [0.05, 0.5, 2.0])
def test_simulated_noise_follows_the_law_and_weaker_noise_does_not(epsilon_report: float) -> None:
    noise = simulated_noise((1000, 200), epsilon_report, rng())
    assert noise.dtype == np.int64
    assert chance_under_the_law(noise, epsilon_report) > 1e-3  # the seed is fixed
    assert chance_under_the_law(simulated_noise((1000, 200), epsilon_report / 0.9, rng()), epsilon_report) < 1e-9


def test_one_seed_decides_the_noise() -> None:
    assert np.array_equal(simulated_noise((9, 3), 0.5, rng(4)), simulated_noise((9, 3), 0.5, rng(4)))
    assert not np.array_equal(simulated_noise((9, 3), 0.5, rng(4)), simulated_noise((9, 3), 0.5, rng(5)))


def test_reports_are_made_with_half_of_epsilon() -> None:
    vectors = np.arange(12).reshape(4, 3)
    assert np.array_equal(simulate_reports(vectors, 1.0, rng(3)), vectors + simulated_noise((4, 3), 0.5, rng(3)))


def test_no_epsilon_means_no_noise() -> None:
    vectors = np.arange(12).reshape(4, 3)
    reports = simulate_reports(vectors, None, rng())
    assert np.array_equal(reports, vectors)
    assert reports is not vectors


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf])
def test_epsilons_that_promise_nothing_are_refused(epsilon: float) -> None:
    with pytest.raises(InputError, match="epsilon_report"):
        simulated_noise(3, epsilon, rng())
    with pytest.raises(ProtocolError, match="epsilon"):
        simulate_reports(np.zeros((1, 1), dtype=np.int64), epsilon, rng())
