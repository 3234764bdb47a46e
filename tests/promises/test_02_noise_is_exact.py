"""Promise 2: noise is exact. Integers only; chi-square of 50,000 draws against the law at 4 epsilons, wrong laws rejected; eight
forked processes, and spawned ones, never share a stream.

The draws of the device in the browser go through the same tests, in a real browser: tabs are its processes.

The law is P(k) = tanh(e/2) exp(-e |k|) with e = epsilon_report, computed here from that formula alone. The noise has no seed, so
the chi-square tests are wrong once in a million runs each; that two of the processes give the same 64 draws by chance has a
probability under 10^-40.
"""

from __future__ import annotations

import math
import multiprocessing
import os
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2

from privact.device.noise import laplace_measurement, randomize
from privact.protocol.round import Round

ALARM = 1e-6
DRAWS = 50_000
WIDE = 1_000
STREAM = 64


def round_with(epsilon_report: float, n_bins: int = WIDE) -> Round:
    return Round(id="exact", epsilon=2 * epsilon_report, n_bins=n_bins, n_users=2 * WIDE, seed=bytes(16))


ROUND = round_with(0.5, STREAM)


def drawn(epsilon_report: float, count: int = DRAWS) -> NDArray[np.int64]:
    exact = np.arange(WIDE) % 50
    return np.concatenate([randomize(exact, round_with(epsilon_report)) - exact for _ in range(count // WIDE)])


def drawn_in_browser(epsilon_report: float, request: pytest.FixtureRequest, count: int = DRAWS) -> NDArray[np.int64]:
    device = request.getfixturevalue("device_in_browser")()
    exact = np.arange(WIDE) % 50
    return np.concatenate([device.randomize(exact, round_with(epsilon_report)) - exact for _ in range(count // WIDE)])


def chance(noise: NDArray[np.int64], epsilon: float) -> float:
    """Chi-square probability of draws at least as far from the law; tails of fewer than 50 expected draws are one cell each."""
    decay = math.exp(-epsilon)
    edge = max(1, math.floor(math.log(len(noise) / (1 + decay) / 50) / epsilon))  # P(k >= edge) = decay^edge / (1 + decay)
    tail = decay**edge / (1 + decay)
    law = [tail, *(math.tanh(epsilon / 2) * decay ** abs(k) for k in range(1 - edge, edge)), tail]
    assert sum(law) == pytest.approx(1.0)
    expected = len(noise) * np.array(law)
    observed = np.bincount(np.clip(noise, -edge, edge) + edge, minlength=2 * edge + 1)
    return float(chi2.sf(((observed - expected) ** 2 / expected).sum(), df=2 * edge))


@pytest.mark.parametrize("where", ["python", "browser"])
@pytest.mark.parametrize("epsilon_report", [0.25, 0.5, 1.0, 2.0])
def test_draws_follow_the_law_and_wrong_laws_are_rejected(
    epsilon_report: float, where: str, request: pytest.FixtureRequest
) -> None:
    noise = drawn(epsilon_report) if where == "python" else drawn_in_browser(epsilon_report, request)
    assert chance(noise, epsilon_report) > ALARM
    # The same draws are not those of a device with a tenth more or less noise,
    for scale in (0.9, 1.1):
        assert chance(noise, epsilon_report / scale) < ALARM
    # and neither rounded continuous Laplace noise nor a sampler that never says 0 would pass.
    rng = np.random.default_rng(0)
    rounded = np.round(rng.laplace(scale=1 / epsilon_report, size=8 * DRAWS)).astype(np.int64)
    if epsilon_report >= 1.0:  # at wide scales rounding hardly shows
        assert chance(rounded, epsilon_report) < ALARM
    assert chance(noise[noise != 0], epsilon_report) < ALARM


def test_what_leaves_the_device_is_integers_only() -> None:
    for epsilon_report in (5e-7, 1 / 3, 7.0, 400.0):
        round = round_with(epsilon_report, 20)
        inside = laplace_measurement(epsilon_report, 20)([0] * 20)
        assert all(type(value) is int for value in inside)
        assert {type(entry) for entry in randomize([0] * 20, round)} == {int}


@pytest.mark.parametrize("where", ["python", "browser"])
def test_draws_are_independent_of_each_other_within_a_report_and_between_reports(
    where: str, request: pytest.FixtureRequest
) -> None:
    draw = randomize if where == "python" else request.getfixturevalue("device_in_browser")().randomize
    noise = np.array([draw(np.zeros(WIDE, np.int64), round_with(0.5)) for _ in range(20)])
    spread = float(noise.std())
    for one, other in ((noise[:, :-1], noise[:, 1:]), (noise[:-1], noise[1:]), (noise[:, : WIDE // 2], noise[:, WIDE // 2 :])):
        correlation = float((one * other).mean()) / spread**2
        assert abs(correlation) < 6 / math.sqrt(one.size)  # once in 10^8 runs
    repeated = np.repeat(noise[:, ::2], 2, axis=1)  # and a stream that says everything twice would be seen
    assert float((repeated[:, :-1] * repeated[:, 1:]).mean()) / spread**2 > 0.3


def forked(draw: Callable[[], list[int]], n_processes: int) -> list[tuple[int, ...]]:
    """What children of os.fork draw first, each told through a pipe."""
    found = []
    for _ in range(n_processes):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.write(write, " ".join(map(str, draw())).encode())
            finally:
                os._exit(0)
        os.close(write)
        with os.fdopen(read) as pipe:
            found.append(tuple(map(int, pipe.read().split())))
        os.waitpid(child, 0)
    return found


def pooled(method: str, n_processes: int) -> list[tuple[int, ...]]:
    """What processes of multiprocessing draw first; each makes one report and ends."""
    with multiprocessing.get_context(method).Pool(n_processes, maxtasksperchild=1) as pool:
        drawn = [pool.apply_async(randomize, ([0] * STREAM, ROUND)) for _ in range(n_processes)]
        return [tuple(one.get(timeout=120)) for one in drawn]


def stream() -> list[int]:
    return randomize([0] * STREAM, ROUND)


@pytest.mark.parametrize("way", ["os.fork", "multiprocessing fork", "multiprocessing spawn"])
def test_processes_never_share_a_stream(way: str) -> None:
    before = stream()  # the parent has drawn: a generator in memory would now be copied with its state
    children = forked(stream, 8) if way == "os.fork" else pooled(way.split()[1], 8 if way.endswith("fork") else 2)
    streams = [tuple(before), *children, tuple(stream())]
    assert all(len(one) == STREAM for one in streams)
    assert len(set(streams)) == len(streams)
    # Nor is one a shifted copy of another: no run of 16 draws occurs twice (by chance once in 10^10 runs).
    runs = Counter(one[place : place + 16] for one in streams for place in range(STREAM - 15))
    assert max(runs.values()) == 1


def test_extreme_epsilons_give_the_right_spread_in_the_browser(request: pytest.FixtureRequest) -> None:
    """The mean size of noise is 1 / sinh(e) for epsilon_report e: five standard errors of 2,000 draws are allowed around it."""
    for epsilon_report in (5e-7, 1 / 3, 7.0):
        sizes = np.abs(drawn_in_browser(epsilon_report, request, 2 * WIDE))
        mean = 1 / math.sinh(epsilon_report)
        square = 1 / (2 * math.sinh(epsilon_report / 2) ** 2)
        assert abs(float(sizes.mean()) - mean) < 5 * math.sqrt((square - mean**2) / sizes.size)
    assert not drawn_in_browser(400.0, request, WIDE).any()  # e^-400 a draw


def test_tabs_never_share_a_stream(chromium, page_files_url: str) -> None:
    from playwright.sync_api import sync_playwright

    draw = f"async () => (await import('/core/noise.js')).randomize(Array({STREAM}).fill(0), 0.5).map(Number)"
    streams = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**chromium)
        for _ in range(4):
            tab = browser.new_page()
            tab.goto(f"{page_files_url}/vendor/unicode/LICENSE.txt")
            streams += [tuple(tab.evaluate(draw)), tuple(tab.evaluate(draw))]
        browser.close()
    runs = Counter(one[place : place + 16] for one in streams for place in range(STREAM - 15))
    assert max(runs.values()) == 1


def test_a_generator_in_memory_would_be_caught() -> None:
    rng = np.random.default_rng(0)
    streams = forked(lambda: rng.integers(-5, 6, STREAM), 2)
    assert streams[0] == streams[1]
