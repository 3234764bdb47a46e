"""A round as load against a real aggregator over HTTP."""

from __future__ import annotations

import socket
import threading
import time
from types import SimpleNamespace

import httpx
import pytest
import uvicorn

from privact.aggregator.http.app import create_app
from privact.aggregator.settings import Settings
from privact.bench.serving.device_load import simulate_round
from privact.errors import InputError, PrivaCTError
from privact.simulate.http_devices import make_network

TOKEN = "operator." + "t" * 43


@pytest.fixture(scope="module")
def aggregator(tmp_path_factory):
    """A running aggregator on loopback: url, and ask(method, path) as the operator."""
    listener = socket.create_server(("127.0.0.1", 0))
    settings = Settings(data_folder=tmp_path_factory.mktemp("data"), operator_token=TOKEN)
    server = uvicorn.Server(uvicorn.Config(create_app(settings), log_config=None, lifespan="on"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)

    def ask(method, path, **more):
        return httpx.request(method, url + path, headers={"Authorization": f"Bearer {TOKEN}"}, trust_env=False, **more)

    yield SimpleNamespace(url=url, ask=ask)
    server.should_exit = True
    thread.join()
    listener.close()


def test_everybody_answers_and_a_tree_is_released_which_others_join_late(aggregator):
    told = []
    aggregator.ask("POST", "/v1/rounds", json={"id": "mine", "epsilon": 2.0, "joiner_seconds": 10**6, "closes": 2**33})
    played = simulate_round(
        aggregator.url, 150, TOKEN, round_id="mine", close=True, concurrency=8, progress=lambda *what: told.append(what[0])
    )
    assert (played.accepted, played.users, played.late) == (150, 150, False)
    assert played.load.statuses == {201: 150}
    assert played.released["state"] == "released"
    assert aggregator.ask("GET", "/v1/rounds/mine").json()["reports"] == 150
    assert told[:2] == ["making a network", "enrolling"]
    joined = simulate_round(aggregator.url, 30, TOKEN, round_id="mine", seed=1)
    assert (joined.accepted, joined.late, joined.released) == (30, True, None)
    assert aggregator.ask("GET", "/v1/rounds/mine").json()["joiners"] == 30


def test_home_servers_can_be_the_bins_of_a_new_round(aggregator):
    played = simulate_round(aggregator.url, 120, TOKEN, by_server=True, epsilon=0.5)
    assert played.accepted == 120
    homes = len(set(make_network(120, 0).servers.tolist()))
    assert (played.round.bins, played.round.n_bins, played.round.epsilon) == ("labels", homes, 0.5)
    assert aggregator.ask("GET", f"/v1/rounds/{played.round.id}").json()["state"] == "open"
    with pytest.raises(InputError, match="is open, which users enrolled now cannot answer"):
        simulate_round(aggregator.url, 120, TOKEN, round_id=played.round.id)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"operator_token": "operator." + "x" * 43}, "a valid token is needed"),
        ({"round_id": "nothing"}, "no round 'nothing'"),
        ({"n_users": 19}, "19 users are too few"),
        ({"url": "https://clusters.example"}, "another machine, to be filled with made-up users"),
        ({"url": "http://127.0.0.1:1"}, "is privact serve running"),
    ],
)
def test_what_cannot_be_played_is_told_in_one_line(aggregator, options, message):
    with pytest.raises(PrivaCTError, match=message) as refused:
        simulate_round(**{"url": aggregator.url, "n_users": 100, "operator_token": TOKEN, **options})
    assert "\n" not in str(refused.value)
