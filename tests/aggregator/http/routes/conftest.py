"""A real server on loopback, in a thread, with a clock that tests move."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from privact.aggregator.http.app import create_app
from privact.aggregator.settings import Settings
from privact.protocol.report import Report
from privact.protocol.round import Round

OPERATOR = "operator." + "o" * 43
NOW = 1_800_000_000


class Service:
    """A server that runs, and a client for it."""

    def __init__(self, folder: Path, **chosen: Any) -> None:
        quick = {"minimum_users": 3, "operator_token": OPERATOR, "report_rate": 0, "operator_rate": 0, "login_failure_rate": 0}
        self.now = float(NOW)
        self.app = create_app(Settings(**{"data_folder": folder} | quick | chosen), now=lambda: self.now)
        self._listener = socket.create_server(("127.0.0.1", 0))
        config = uvicorn.Config(self.app, log_config=None, access_log=False, lifespan="on", ws="none")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._listener]})
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.client = httpx.Client(base_url=self.url, trust_env=False, timeout=60)

    def stop(self) -> None:
        self.client.close()
        self._server.should_exit = True
        self._thread.join()
        self._listener.close()

    def ask(self, method: str, path: str, token: str | None = None, **named: Any) -> httpx.Response:
        headers = named.pop("headers", {}) | ({} if token is None else {"Authorization": f"Bearer {token}"})
        return self.client.request(method, path, headers=headers, **named)

    def operate(self, method: str, path: str, **named: Any) -> Any:
        """What the operator asks and gets."""
        answer = self.ask(method, path, OPERATOR, **named)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    def enrol(self, *users: str) -> dict[str, str]:
        tokens: dict[str, str] = self.operate("POST", "/v1/users", json={"users": list(users)})["tokens"]
        return tokens

    def open_round(self, name: str = "spring", **wish: Any) -> Round:
        self.operate("POST", "/v1/rounds", json={"id": name, "epsilon": 1.0, "n_bins": 2} | wish)
        self.operate("POST", f"/v1/rounds/{name}/open")
        return Round.from_bytes(self.ask("GET", f"/v1/rounds/{name}/parameters").content)

    def send(self, round: Round, user: str, token: str, vector: tuple[int, ...] = (1, 2)) -> httpx.Response:
        body = Report.bind(round, user, vector).to_bytes()
        return self.ask("PUT", f"/v1/rounds/{round.id}/report", token, content=body)


@pytest.fixture
def make_service(tmp_path: Path) -> Iterator[Callable[..., Service]]:
    """Makes servers that end with the test; settings by name."""
    made: list[Service] = []

    def make(**chosen: Any) -> Service:
        folder = tmp_path / f"service{len(made)}"
        made.append(Service(folder, **chosen))
        return made[-1]

    yield make
    for service in made:
        service.stop()


@pytest.fixture
def service(make_service: Callable[..., Service]) -> Service:
    """A server without rate limits, for rounds of at least three users."""
    return make_service()


@pytest.fixture(scope="module")
def shared_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """The same for all tests of a module, which must not mind each other."""
    service = Service(tmp_path_factory.mktemp("shared"))
    yield service
    service.stop()


@pytest.fixture
def operator_token() -> str:
    return OPERATOR
