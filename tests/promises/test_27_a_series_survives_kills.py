"""Promise 27. A series finds communities without labels; whatever is killed, no round is opened twice and the tree is the same.

Devices answer three rounds over HTTP. The server is killed while it infers groups, and so is a worker process; both times
the series goes on. The released file is compared with what is learned from the stored reports without any disturbance.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from privact.aggregator.jobs.series_learning import align_series, infer_labels, learn_series, read_series
from privact.aggregator.storage.stored_reports import read_round
from privact.device.noise import make_report
from privact.protocol.labels import LabelTable
from privact.protocol.round import Round
from privact.protocol.round_log import RoundLog

N, BLOCKS = 120, 4
USERS = [f"u{number}@s.example" for number in range(N)]
LATE, MISSED, JOINS = USERS[0], USERS[1], USERS[2]
"""Who reports after the release, who answers all rounds but the second, and who is enrolled after the first."""


def make_contacts(seed: int = 3) -> dict[str, list[str]]:
    """Who knows whom in four blocks of users, most of whose contacts are in their own block."""
    block = np.arange(N) * BLOCKS // N
    known = np.random.default_rng(seed).random((N, N)) < np.where(block[:, None] == block, 0.5, 0.01)
    either = np.triu(known, 1) | np.triu(known, 1).T
    return {USERS[row]: [USERS[other] for other in np.flatnonzero(either[row])] for row in range(N)}


CONTACTS = make_contacts()


def block_of(user: str) -> int:
    return USERS.index(user) * BLOCKS // N


def answer(server: Any, round_id: str, tokens: dict[str, str]) -> Round:
    """Every device with a token answers a round."""
    round = Round.from_bytes(server.ask("GET", f"/v1/rounds/{round_id}/parameters")[1])
    labels = None
    if round.bins == "labels":
        labels = LabelTable.from_bytes(server.ask("GET", f"/v1/rounds/{round_id}/labels")[1], round.labels_digest)
    for user, token in tokens.items():
        body = make_report(CONTACTS[user], round, user, labels).to_bytes()
        assert server.ask("PUT", f"/v1/rounds/{round_id}/report", body, token)[0] == 201
    return round


def series_of(server: Any) -> dict[str, Any]:
    found: dict[str, Any] = server.ask("GET", "/v1/series/autumn")[1]
    return found


def wait(happened: Callable[[], Any], seconds: float = 300.0) -> Any:
    end = time.monotonic() + seconds
    while not (found := happened()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)
    return found


def workers_of(server: Any) -> list[int]:
    """The worker processes of a server."""
    children = Path(f"/proc/{server.process.pid}/task").glob("*/children")
    numbers: list[int] = []
    for path in children:
        with contextlib.suppress(OSError):
            numbers += map(int, path.read_text().split())
    return numbers


def is_learning(server: Any, round_id: str) -> bool:
    return bool(server.ask("GET", f"/v1/rounds/{round_id}")[1]["state"] == "learning")


@pytest.fixture
def server(aggregator: Callable[..., Any], database_url: str) -> Iterator[Any]:
    made = aggregator(database_url, minimum_users=20, report_rate=0, operator_rate=0, public_rate=0)
    made.start()
    return made


@pytest.mark.slow
def test_a_series_is_played_through_kills_and_its_tree_shows_the_blocks(server: Any, tmp_path: Path) -> None:
    tokens = server.enrol([user for user in USERS if user not in (LATE, JOINS)])
    wish = {"name": "autumn", "epsilon": 12.0, "rounds": 3, "every_seconds": 86400, "joiner_seconds": 86400}
    server.operate("POST", "/v1/series", wish)
    server.operate("POST", "/v1/rounds/autumn.1/open")
    seen: dict[str, Round] = {}
    for number in (1, 2, 3):
        round_id = f"autumn.{number}"
        seen[round_id] = answer(
            server, round_id, {user: token for user, token in tokens.items() if (user, number) != (MISSED, 2)}
        )
        if number == 1:
            tokens |= server.enrol([JOINS])
        server.operate("POST", f"/v1/rounds/{round_id}/close")
        if number == 1:  # the plug is pulled while groups are inferred
            wait(lambda: is_learning(server, "autumn.1"))
            server.kill()
            server.start()
        if number == 2:  # the process dies; the server tries again
            for pid in wait(lambda: workers_of(server)):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        if number < 3:
            wait(lambda number=number: len(series_of(server)["members"]) == number + 1)
            server.kill()  # between two rounds
            server.start()
    wait(lambda: series_of(server)["state"] == "released")

    found = series_of(server)
    log = RoundLog.from_bytes(server.ask("GET", "/v1/log")[1])
    assert [Round.from_bytes(entry.parameters) for entry in log.entries] == list(seen.values())  # each asked once
    assert (found["release"], found["asked"]) == ("autumn.3", 12.0)
    assert [each["evidence"]["rounds"] for each in found["members"]] == [[1], [1, 2], [1, 2, 3]]
    assert found["evidence"]["sees_communities"]
    assert found["finding"].startswith("the reports tell who")

    url, newest = server.database, read_round(server.database, "autumn.3")
    undisturbed = align_series(url, newest, read_series(url, newest, tmp_path, 20), 20)
    assert undisturbed.users == [user for user in undisturbed.users if user not in (LATE, MISSED, JOINS)]
    learned, evidence = learn_series(undisturbed)
    learned.tree.save(tmp_path / "again.hct")
    assert (tmp_path / "again.hct").read_bytes() == server.ask("GET", "/v1/rounds/autumn.3/tree/download")[1]
    assert evidence == found["evidence"]

    def community(user: str) -> Any:
        status, said = server.ask("GET", f"/v1/rounds/autumn.3/tree/community?user={user}&size=20&limit=100")
        return said if status == 200 else None

    answer(server, "autumn.3", server.enrol([LATE]))
    for user in (USERS[50], MISSED, JOINS, LATE):
        near = [block_of(each["user"]) for each in wait(lambda user=user: community(user))["users"]]
        assert near.count(block_of(user)) >= 0.8 * len(near), user
    in_second = [user for user in USERS if user not in (LATE, JOINS)]  # groups of the second round came from the first alone
    first = read_round(url, "autumn.1")
    again, _ = infer_labels(align_series(url, first, read_series(url, first, tmp_path, 20), 20))
    published = LabelTable.from_bytes(server.ask("GET", "/v1/rounds/autumn.2/labels")[1])
    assert again.labels_of(in_second).tolist() == published.labels_of(in_second).tolist()
