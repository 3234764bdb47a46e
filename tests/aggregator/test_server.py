"""privact serve as a process: it says when it is ready, ends gracefully, and refuses in one line what cannot be."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

from privact.protocol.report import Report
from privact.protocol.round import Round

OPERATOR = "operator." + "o" * 43


class Process:
    """A running `privact serve`."""

    def __init__(self, folder, *arguments, **environment):
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PRIVACT_")}
        given = {f"PRIVACT_{name.upper()}": str(value) for name, value in environment.items()}
        command = [sys.executable, "-m", "privact", "serve", "--data-folder", str(folder), "--json", *arguments]
        if "port" not in environment and "--port" not in arguments:
            command += ["--port", "0"]
        self.process = subprocess.Popen(
            command, env=clean | given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder.parent
        )
        self.said = []

    def ready(self):
        document = ""
        while not document.rstrip().endswith("}"):
            line = self.process.stdout.readline()
            assert line, self.process.stderr.read()
            document += line
        self.url = json.loads(document)["url"]
        threading.Thread(target=lambda: self.said.extend(self.process.stderr), daemon=True).start()
        return self

    def refused(self):
        out, err = self.process.communicate(timeout=60)
        assert (self.process.returncode, out) == (2, "")
        (line,) = err.splitlines()
        return line.removeprefix("privact: ")

    def ask(self, method, path, token=OPERATOR, body=None):
        connection = http.client.HTTPConnection(self.url.removeprefix("http://"), timeout=60)
        connection.request(method, path, body, {"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, content


@pytest.fixture
def serve(tmp_path):
    made = []

    def start(*arguments, folder=None, **environment):
        made.append(Process(folder or tmp_path / "data", *arguments, **environment))
        return made[-1]

    yield start
    for one in made:
        if one.process.poll() is None:
            one.process.kill()
        one.process.communicate()


def test_the_first_start_writes_a_token_to_a_private_file_and_it_works(serve, tmp_path):
    (tmp_path / "data").mkdir(mode=0o755)
    first = serve().ready()
    status, _ = first.ask("GET", "/v1/users", token="operator." + "x" * 43)
    assert status == 401
    first.process.send_signal(signal.SIGTERM)
    assert first.process.wait(60) == 0
    file = tmp_path / "data" / "operator-token"
    token = file.read_text().strip()
    assert re.fullmatch(r"operator\.\S{43}", token)
    assert file.stat().st_mode & 0o777 == 0o600
    said = "".join(first.said)
    assert str(file) in said
    assert token not in said  # logs are read by many
    for path in (tmp_path / "data").iterdir():
        assert path == file or path.is_dir() or token.encode() not in path.read_bytes()
        assert path.is_dir() or path.stat().st_mode & 0o077 == 0, path
    assert (tmp_path / "data").stat().st_mode & 0o077 == 0
    second = serve().ready()
    assert second.ask("GET", "/v1/users", token=token)[0] == 200
    second.process.send_signal(signal.SIGINT)
    assert second.process.wait(60) == 0
    assert "operator." not in "".join(second.said)
    third = serve("--new-operator-token").ready()
    assert third.ask("GET", "/v1/users", token=token)[0] == 401


def test_logs_are_json_and_answers_do_not_name_the_server(serve):
    server = serve(operator_token=OPERATOR).ready()
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"))
    polled = ("GET", "/healthz?token=secret"), ("GET", "/v1/rounds/none?token=secret"), ("GET", "/v1/ratings")  # 200, 404, 409
    for method, path in (*polled, ("DELETE", "/v1/rounds/none?token=secret")):
        connection.request(method, path, headers={"Authorization": f"Bearer {OPERATOR}"})
        response = connection.getresponse()
        assert response.getheader("server") is None
        response.read()
    connection.close()
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(60) == 0
    lines = [json.loads(line) for line in server.said]
    told = [(line["method"], line["route"]) for line in lines if line["message"] == "request"]
    assert told == [("DELETE", "/v1/rounds/{round_id}")]  # what is only read leaves no line, whether it is there or not
    assert "secret" not in "".join(server.said)
    assert OPERATOR not in "".join(server.said)


def test_sigterm_finishes_what_was_begun_and_keeps_what_was_accepted(serve):
    server = serve(operator_token=OPERATOR, minimum_users=2, report_rate=0).ready()
    users = [f"user{number}" for number in range(200)]
    tokens = json.loads(server.ask("POST", "/v1/users", body=json.dumps({"users": users}))[1])["tokens"]
    server.ask("POST", "/v1/rounds", body=json.dumps({"id": "spring", "epsilon": 1.0, "n_bins": 2}))
    server.ask("POST", "/v1/rounds/spring/open")
    spring = Round.from_bytes(server.ask("GET", "/v1/rounds/spring/parameters")[1])
    accepted, odd = [], []

    def send(some):
        for user in some:
            try:
                status, _ = server.ask(
                    "PUT", "/v1/rounds/spring/report", tokens[user], Report.bind(spring, user, (1, 2)).to_bytes()
                )
            except (OSError, http.client.HTTPException):
                return  # no longer listening
            (accepted if status == 201 else odd).append(user)

    threads = [threading.Thread(target=send, args=(users[number::8],)) for number in range(8)]
    for thread in threads:
        thread.start()
    while len(accepted) < 20:
        time.sleep(0.001)
    server.process.send_signal(signal.SIGTERM)
    for thread in threads:
        thread.join()
    assert server.process.wait(60) == 0
    assert odd == []
    again = serve(operator_token=OPERATOR).ready()
    assert json.loads(again.ask("GET", "/v1/rounds/spring")[1])["reports"] == len(accepted)


def test_a_second_ctrl_c_ends_at_once(serve):
    server = serve(operator_token=OPERATOR, drain_seconds=600).ready()
    address = server.url.removeprefix("http://").split(":")
    with socket.create_connection((address[0], int(address[1]))) as slow:
        head = f"POST /v1/users HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {OPERATOR}\r\nContent-Length: 100\r\n\r\n"
        slow.sendall(head.encode())  # a request that never ends
        assert server.ask("GET", "/healthz")[0] == 200
        server.process.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            server.process.wait(1)
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(60) == 130


def test_a_request_that_never_ends_holds_up_the_end_for_the_drain_seconds_only(serve):
    server = serve(operator_token=OPERATOR, drain_seconds=1).ready()
    address = server.url.removeprefix("http://").split(":")
    with socket.create_connection((address[0], int(address[1]))) as slow:
        head = f"POST /v1/users HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {OPERATOR}\r\nContent-Length: 100\r\n\r\n"
        slow.sendall(head.encode())
        assert server.ask("GET", "/healthz")[0] == 200
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(60) == 0


def test_two_servers_on_one_database_are_one_line(serve, tmp_path):
    serve(operator_token=OPERATOR).ready()
    assert "another server holds" in serve().refused()
    (tmp_path / "other").mkdir()
    database = f"sqlite:///{tmp_path}/data/privact.sqlite3"
    assert "another server holds" in serve(folder=tmp_path / "other", database=database).refused()
