"""privact simulate: what it says, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import httpx
import pytest

from privact.simulate.http_devices import make_network
from privact.simulate.known_graphs import make_cliques

TOKEN = "operator." + "t" * 43
PRIVACT = [sys.executable, "-c", "from privact.cli.main import main; main()"]


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """A running `privact serve`."""
    data = tmp_path_factory.mktemp("data")
    environment = {**os.environ, "PRIVACT_OPERATOR_TOKEN": TOKEN}
    command = [*PRIVACT, "serve", "--port", "0", "--data-folder", str(data), "--json"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
    lines = [server.stdout.readline()]
    while lines[-1] not in ("}\n", ""):  # a server that ends writes no more lines
        lines.append(server.stdout.readline())
    yield json.loads("".join(lines))["url"]
    server.terminate()
    server.wait(60)
    server.stdout.close()


@pytest.fixture(autouse=True)
def _token(monkeypatch):
    monkeypatch.setenv("PRIVACT_OPERATOR_TOKEN", TOKEN)


def test_ones_own_network_is_rehearsed_against_a_running_aggregator(ask, url, tmp_path):
    graph = make_network(120, 3).graph
    path = tmp_path / "contacts.tsv"
    path.write_text("".join(f"{graph.names[a]}\t{graph.names[b]}\n" for a, b in graph.edges().tolist()))
    told = ask("simulate", "--contacts", path, "--url", url)
    assert told["users"] >= 100
    assert 0 < told["contact_share"] <= 1
    assert sum(cluster["size"] for cluster in told["communities"]["clusters"]) <= told["users"]


def test_a_series_of_ones_own_network_is_rehearsed_and_real_users_are_never_asked(ask, run, url, tmp_path):
    graph = make_cliques([20] * 6).graph  # items are liked by one clique each
    contacts, ratings = tmp_path / "contacts.tsv", tmp_path / "ratings.tsv"
    contacts.write_text("".join(f"u{a}\tu{b}\n" for a, b in graph.edges().tolist()))
    liked = "".join(f"u{user}\titem{10 * (user // 20) + item}\t1\n" for user in range(120) for item in range(10))
    ratings.write_text("user\titem\trating\n" + liked)
    series = ("simulate", "--contacts", contacts, "--ratings", ratings, "--rounds", "2", "--epsilon", "20", "--url", url)
    told = ask(*series)
    assert (told["users"], told["rounds"], told["sees_communities"]) == (120, 2, True)
    assert told["contact_share"] > 0.5 > told["by_chance"]
    assert told["recommendations"]["precision"] > told["recommendations"]["precision_popular"]
    headers = {"Authorization": f"Bearer {TOKEN}"}
    httpx.post(f"{url}/v1/users", json={"users": ["real@a.example"]}, headers=headers).raise_for_status()
    refused = run(*series)
    assert refused.exit_code == 2
    assert "would be asked to answer" in refused.stderr
    httpx.delete(f"{url}/v1/users/real@a.example", headers=headers).raise_for_status()


def test_a_summary_for_people_and_for_programs(run, ask, url):
    told = ask("simulate", "--users", "120", "--url", url, "--rate", "2000")
    assert (told["users"], told["accepted"], told["refused"], told["failed"], told["retried"]) == (120, 120, 0, 0, 0)
    assert told["statuses"] == {"201": 120}
    assert 0 < told["p50_ms"] <= told["p99_ms"]
    assert 0 < told["reports_per_second"] <= 2000 * 120 / 119
    result = run("simulate", "--users", "120", "--url", url)
    assert (result.exit_code, result.stderr) == (0, "")
    text = " ".join(result.stdout.split())
    assert "accepted 120" in text
    assert "no ledger" in text
    assert "The round is still open. Next: privact round close simulation-" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--users", "5"], "5 users are too few"),
        (["--users", "120", "--url", "https://clusters.example"], "use loopback, or --allow-remote"),
        (["--users", "120", "--url", "http://clusters.example"], "plain http"),
        (["--users", "120", "--rate", "0"], "--rate 0 is not above 0"),
        (["--users", "120", "--round", "none"], "none"),
        (["--users", "120", "--epsilon", "0"], "epsilon"),
        (["--users", "120", "--url", "http://127.0.0.1:1"], "is privact serve running"),
    ],
)
def test_wrong_calls_end_in_one_line(run, url, options, message):
    result = run("simulate", "--url", url, *options)
    assert (result.exit_code, result.stdout, len(result.stderr.splitlines())) == (2, "", 1)
    assert message in result.stderr


def answering(url):
    """Whether a simulation is in the middle of sending."""
    rounds = httpx.get(f"{url}/v1/rounds", trust_env=False).json()["rounds"]
    return any(round["state"] == "open" and 0 < round["reports"] < 100 for round in rounds)


def test_control_c_ends_at_once_and_leaves_nothing_on_this_machine(url, tmp_path):
    command = [*PRIVACT, "simulate", "--users", "300", "--url", url, "--rate", "5"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    while not answering(url):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout, stderr) == (130, "", "privact: stopped\n")
    assert list(tmp_path.iterdir()) == []
