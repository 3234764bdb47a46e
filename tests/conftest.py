"""Fixtures shared by all tests: the paper's datasets, a real PostgreSQL, a real browser, and small random trees."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

import privact
from privact.simulate.local_postgres import find_postgres_programs, run_postgres
from privact.tree.hct import HierarchicalClusterTree

pytest_plugins = ["pretend_aggregator"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--data", metavar="DIR", help="folder with lastfm, delicious and douban (default: PRIVACT_DATA)")


def pytest_configure() -> None:
    """Let Ctrl-C reach what tests start, also where tests themselves run in the background of a shell, which ignores it."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def data_dir(request: pytest.FixtureRequest) -> Path:
    """The folder of the paper's datasets; tests that ask for it are marked `data` and skipped where it is not known."""
    folder = request.config.getoption("--data") or os.environ.get("PRIVACT_DATA")
    if not folder:
        pytest.skip("the paper's datasets are not here: pass --data DIR or set PRIVACT_DATA")
    return Path(folder)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The socket folder of a real PostgreSQL that only these tests use; skipped where its programs are not found.

    With PRIVACT_REQUIRE_POSTGRES=1 a missing PostgreSQL is a failure instead.
    """
    if find_postgres_programs() is None:
        missing = "PostgreSQL's initdb and postgres are not here: install postgresql to test with it"
        if os.environ.get("PRIVACT_REQUIRE_POSTGRES") == "1":
            pytest.fail(missing)
        pytest.skip(missing)
    with run_postgres() as folder:
        yield folder


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """The URL of an empty place in PostgreSQL, gone after the test: a schema, which is made far quicker than a database."""
    import psycopg

    name = f"privact_{secrets.token_hex(6)}"
    with psycopg.connect(host=postgres_server, user="postgres", dbname="postgres", autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
        yield f"postgresql://postgres@/postgres?host={postgres_server}&options=-csearch_path%3D{name}"
        connection.execute(f"DROP SCHEMA {name} CASCADE")


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database; the test runs once on SQLite and once on a real PostgreSQL."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'privact.sqlite3'}"
    url: str = request.getfixturevalue("postgres_url")
    return url


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
CHROMIUM_FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--no-first-run", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]  # fmt: skip
PAGE_FILES = Path(privact.__file__).parent / "device" / "page" / "static"
MODULES = ("address", "bins", "bytes", "degrees", "labels", "noise", "report", "round", "round_log", "users")


@pytest.fixture(scope="session")
def chromium() -> dict[str, Any]:
    """How Playwright starts a real browser; with PRIVACT_REQUIRE_BROWSER a missing one is a failure, else tests are skipped."""
    if CHROMIUM is None:
        if os.environ.get("PRIVACT_REQUIRE_BROWSER"):
            pytest.fail("no Chromium found, and PRIVACT_REQUIRE_BROWSER is set")
        pytest.skip("no Chromium found: install it to see the pages tested")
    return {"executable_path": CHROMIUM, "args": CHROMIUM_FLAGS, "timeout": 0}


class QuietFiles(SimpleHTTPRequestHandler):
    """Serves files without a line for each."""

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="session")
def page_files_url() -> Iterator[str]:
    """Where the static files of the device's page are served, without an aggregator."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietFiles, directory=str(PAGE_FILES)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


class PageDevice:
    """The modules of the device's page in a real browser, which may be called from every thread."""

    def __init__(self, chromium: dict[str, Any], url: str) -> None:
        self._thread = ThreadPoolExecutor(1)  # Playwright belongs to the thread that started it
        self._thread.submit(self._open, chromium, url).result()

    def _open(self, chromium: dict[str, Any], url: str) -> None:
        from playwright.sync_api import sync_playwright

        self._playwright = sync_playwright().start()
        self._browser = self._playwright.chromium.launch(**chromium)
        self._page = self._browser.new_page()
        self._page.set_default_timeout(0)  # a busy machine is no failure
        self._page.goto(f"{url}/vendor/unicode/LICENSE.txt")
        imports = ", ".join(f"{name}: await import('/core/{name}.js')" for name in MODULES)
        self._page.evaluate(f"async () => {{ window.core = {{ {imports}, contacts: await import('/contacts/read.js') }} }}")

    def call(self, function: str, argument: Any = None) -> Any:
        """What a JavaScript function gives; it finds the modules in `core`."""
        return self._thread.submit(self._page.evaluate, function, argument).result()

    def close(self) -> None:
        self._thread.submit(self._browser.close).result()
        self._thread.submit(self._playwright.stop).result()
        self._thread.shutdown()


@pytest.fixture(scope="session")
def page_device(chromium: dict[str, Any], page_files_url: str) -> Iterator[PageDevice]:
    """The device of the browser page: see PageDevice."""
    device = PageDevice(chromium, page_files_url)
    yield device
    device.close()


settings.register_profile("no clock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("no clock")


@st.composite
def _children(draw, most_users=20):
    """Children of internal nodes of a random tree, numbered at random: (left, right)."""
    n_users = draw(st.integers(1, most_users))
    numbers = draw(st.permutations(range(n_users, 2 * n_users - 1)))
    left, right = [0] * (n_users - 1), [0] * (n_users - 1)
    roots = list(range(n_users))
    for number in numbers:
        left[number - n_users] = roots.pop(draw(st.integers(0, len(roots) - 1)))
        right[number - n_users] = roots.pop(draw(st.integers(0, len(roots) - 1)))
        roots.append(number)
    return np.array(left, np.int64), np.array(right, np.int64)


def _members(left, right):
    """The set of leaves below each node, straight from the definition."""
    n_users = len(left) + 1
    known = {leaf: frozenset([leaf]) for leaf in range(n_users)}
    while len(known) < 2 * n_users - 1:
        for i, (a, b) in enumerate(zip(left, right, strict=True)):
            if int(a) in known and int(b) in known:
                known[n_users + i] = known[int(a)] | known[int(b)]
    return [known[node] for node in range(2 * n_users - 1)]


def _path(n_users, users=None):
    """The path-like tree that adds leaf 1, 2, 3, ... to leaf 0."""
    left = np.arange(n_users - 1, 2 * n_users - 2)
    left[:1] = 0
    return HierarchicalClusterTree.from_children(left, np.arange(1, n_users), users)


@pytest.fixture(scope="session")
def children():
    return _children()


@pytest.fixture(scope="session")
def trees():
    return _children().map(lambda pair: HierarchicalClusterTree.from_children(*pair))


@pytest.fixture(scope="session")
def members():
    return _members


@pytest.fixture(scope="session")
def path_tree():
    return _path
