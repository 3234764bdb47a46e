"""What the promises share: a real aggregator that can be killed and started again, and the device of the browser page."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from privact.audit.guessing import Device
from privact.protocol.report import Report
from privact.protocol.round import Round

OPERATOR = "operator." + "t" * 43


class Aggregator:
    """A real aggregator on loopback, in its own process."""

    def __init__(self, folder: Path, database: str | None = None, **settings: object) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.folder = folder
        self.log = folder / "server.log"
        self.database = database or f"sqlite:///{folder / 'privact.sqlite3'}"
        given = {"data_folder": folder, "database": self.database, "port": self.port, "operator_token": OPERATOR, **settings}
        others = {name: value for name, value in os.environ.items() if not name.startswith("PRIVACT_")}
        self.environment = others | {f"PRIVACT_{key.upper()}": str(value) for key, value in given.items()}
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> float:
        """Start it and wait until it is ready; gives the seconds that took."""
        begin = time.monotonic()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "privact", "serve"], env=self.environment, stdout=log, stderr=log
            )
        while True:
            with contextlib.suppress(OSError, http.client.HTTPException):
                if self.ask("GET", "/readyz")[0] == 200:
                    return time.monotonic() - begin
            assert self.process.poll() is None, f"the aggregator ended: {self.log.read_text()[-2000:]}"
            assert time.monotonic() - begin < 60, "the aggregator did not start"
            time.sleep(0.02)

    def kill(self) -> None:
        """Pull the plug: SIGKILL, nothing is flushed or said."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """End it gracefully, if it runs."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(30)

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)

    def ask(self, method: str, path: str, body: object = None, token: str | None = None) -> tuple[int, Any]:
        """One request; the answer's status, and its JSON or bytes."""
        connection = self.connection()
        try:
            headers = {} if token is None else {"Authorization": f"Bearer {token}"}
            payload = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
            kind = "application/octet-stream" if isinstance(body, bytes) else "application/json"
            connection.request(method, path, payload, headers | ({} if body is None else {"Content-Type": kind}))
            answer = connection.getresponse()
            data = answer.read()
            return answer.status, json.loads(data) if "json" in answer.headers.get("Content-Type", "") else data
        finally:
            connection.close()

    def operate(self, method: str, path: str, body: object = None) -> Any:
        """A request of the operator that must succeed."""
        status, answer = self.ask(method, path, body, OPERATOR)
        assert status < 300, f"{method} {path}: {status} {answer}"
        return answer

    def enrol(self, users: list[str]) -> dict[str, str]:
        """Enrol users; gives the token of each."""
        tokens: dict[str, str] = {}
        for first in range(0, len(users), 10_000):
            tokens |= self.operate("POST", "/v1/users", {"users": users[first : first + 10_000]})["tokens"]
        return tokens

    def open_round(self, name: str, **settings: object) -> Any:
        """Create and open a round; gives its public parameters."""
        from privact.protocol.round import Round

        self.operate("POST", "/v1/rounds", {"id": name, "epsilon": 1.0, **settings})
        self.operate("POST", f"/v1/rounds/{name}/open")
        return Round.from_bytes(self.ask("GET", f"/v1/rounds/{name}/parameters")[1])


@pytest.fixture
def aggregator(tmp_path: Path) -> Iterator[Callable[..., Aggregator]]:
    """Makes aggregators that end with the test."""
    made: list[Aggregator] = []

    def make(database: str | None = None, **settings: object) -> Aggregator:
        folder = tmp_path / f"aggregator{len(made)}"
        folder.mkdir()
        made.append(Aggregator(folder, database, **settings))
        return made[-1]

    yield make
    for server in made:
        server.stop()


RANDOMIZE = """({ counts, epsilon }) => core.noise.randomize(counts.split(" ").map(Number), epsilon).join(" ")"""
MAKE_REPORT = """({ contacts, parameters, user, scale }) => {
    const round = core.round.parseRound(core.bytes.fromHex(parameters));
    const counts = core.degrees.degreeVector(contacts, round, user);
    const noisy = core.noise.randomize(counts, round.epsilonReport / scale);
    return core.bytes.toHex(core.report.encodeReport(round, user, noisy));
}"""


@pytest.fixture
def device_in_browser(page_device: Any) -> Callable[..., Device]:
    """The device of the browser page, as an audit attacks one; a mutant multiplies its noise with another scale than 1."""

    def make(scale: float = 1.0) -> Device:
        def randomize(vector: Any, round: Round) -> Any:
            asked = {"counts": " ".join(map(str, np.asarray(vector).tolist())), "epsilon": round.epsilon_report / scale}
            return np.array(page_device.call(RANDOMIZE, asked).split(" "), dtype=np.int64)

        def report(contacts: list[str], round: Round, user: str) -> Report:
            asked = {"contacts": contacts, "parameters": round.to_bytes().hex(), "user": user, "scale": scale}
            return Report.from_bytes(bytes.fromhex(page_device.call(MAKE_REPORT, asked)))

        return Device(randomize, report)

    return make
