"""A real browser, and an aggregator with a released round, an open one and a user who joined late."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from privact.device.noise import make_report
from privact.protocol.addresses import aggregator_address
from privact.simulate.http_devices import Operator, make_network, make_reports, send_reports
from privact.simulate.local_aggregator import LocalAggregator, run_aggregator

SCREENSHOTS = os.environ.get("PRIVACT_SCREENSHOTS")
"""Folder for the screenshots that the docs use; by default they are taken into a temporary folder."""


@pytest.fixture(scope="session")
def browser(chromium: dict[str, Any]) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(**chromium)
        yield started
        started.close()


@pytest.fixture
def open_page(browser) -> Iterator[Callable[..., Any]]:
    """Opens pages, and fails the test if a script failed or asked another host."""
    contexts, faults = [], []

    def opened(address: str, **options: Any) -> Any:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 850}, "reduced_motion": "reduce", **options})
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda line: faults.append(line.text) if "Content Security Policy" in line.text else None)
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not faults


@pytest.fixture(scope="session")
def take_picture(tmp_path_factory) -> Callable[..., Path]:
    """Saves what a page shows, or one element of it, under a name."""
    folder = Path(SCREENSHOTS) if SCREENSHOTS else tmp_path_factory.mktemp("screenshots")
    folder.mkdir(parents=True, exist_ok=True)

    def take(page: Any, name: str, element: str | None = None) -> Path:
        path = folder / f"{name}.png"
        page.evaluate("scrollTo(0, 0)")
        (page if element is None else page.locator(element)).screenshot(path=path)
        assert path.stat().st_size > 5_000
        return path

    return take


@dataclass(frozen=True)
class Played:
    """What the pages show: the server, the user tokens, the users of the released round, and who joined it late."""

    aggregator: LocalAggregator
    tokens: dict[str, str]
    users: tuple[str, ...]
    late: str

    @property
    def url(self) -> str:
        return self.aggregator.url


@pytest.fixture(scope="session")
def played() -> Iterator[Played]:
    """An aggregator whose round `spring` is released, with one late joiner, and whose round `summer` is open, half answered."""
    with run_aggregator() as aggregator, ThreadPoolExecutor(1) as elsewhere:  # the browser has this thread's event loop
        yield elsewhere.submit(_play, aggregator).result()


def _play(aggregator: LocalAggregator) -> Played:
    quiet = lambda *_: None  # noqa: E731
    address = aggregator_address(aggregator.url)
    operator = Operator(address, aggregator.operator_token)
    network = make_network(400, seed=5)
    users = network.graph.users
    tokens = operator.enrol(users, quiet)
    names = network.server_names
    lines = "".join(f"{user},{names[home]}\n" for user, home in zip(users, network.servers.tolist(), strict=True))
    operator.ask("POST", "/v1/rounds", {"id": "spring", "epsilon": 1.0, "bins": "labels"})
    operator.ask("PUT", "/v1/rounds/spring/labels", content=lines.encode())
    operator.ask("POST", "/v1/rounds/spring/open")
    round_ = operator.parameters("spring")
    send_reports(address, "spring", list(tokens.values()), make_reports(network.graph, users, round_, operator.labels(round_)))
    operator.ask("POST", "/v1/rounds/spring/close")
    operator.released("spring", quiet)
    late = "late@tempo.example"
    tokens |= operator.enrol([late], quiet)
    contacts = network.graph.neighbours(users[0])
    answer = make_report(contacts, round_, late, operator.labels(round_)).to_bytes()
    assert send_reports(address, "spring", [tokens[late]], [answer]).accepted == 1
    for _ in range(600):  # until it is placed
        if operator.ask("GET", "/v1/rounds/spring/tree").json()["joined_late"]:
            break
        time.sleep(0.1)
    operator.ask("POST", "/v1/rounds", {"id": "summer", "epsilon": 0.5})
    operator.ask("POST", "/v1/rounds/summer/open")
    half = users[:200]
    answers = make_reports(network.graph, users, operator.parameters("summer"))[:200]
    send_reports(address, "summer", [tokens[user] for user in half], answers)
    return Played(aggregator, tokens, users, late)


TOO_MUCH = """(size) => new Promise((done) => {
    const request = indexedDB.open("filler", 1);
    request.onupgradeneeded = () => request.result.createObjectStore("rows", { autoIncrement: true });
    request.onsuccess = () => {
        const transaction = request.result.transaction("rows", "readwrite");
        transaction.oncomplete = () => done("stored");
        transaction.onabort = () => { request.result.close(); done(transaction.error.name); };
        transaction.objectStore("rows").add(new Uint8Array(size));
    };
})"""
"""More than a browser believes to have room for: it then looks how much there really is."""


class SmallDisk:
    """A browser in which an origin has as much room as a test says; the browser itself enforces it.

    page: a tab that has not been at the origin yet.
    """

    ROOM = 2**21

    def __init__(self, page: Any, origin: str, room: int = ROOM) -> None:
        self._page, self._origin = page, origin
        self._session = page.context.new_cdp_session(page)
        self._allow(room)

    def _allow(self, room: int) -> None:
        self._session.send("Storage.overrideQuotaForOrigin", {"origin": self._origin, "quotaSize": room})

    def fill(self) -> None:
        """Leave no room."""
        self._allow(1)
        assert self._page.evaluate(TOO_MUCH, 2 * self.ROOM) == "QuotaExceededError"

    def free(self) -> None:
        """Give the room back."""
        self._allow(self.ROOM)


@pytest.fixture
def small_disk() -> type[SmallDisk]:
    return SmallDisk
