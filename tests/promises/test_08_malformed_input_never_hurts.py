"""Promise 8: malformed input never hurts. Schemathesis over the whole OpenAPI and 100,000 fuzzed bodies: no 5xx, memory flat.

The bodies are valid reports, rounds and enrolments with bits flipped, parts cut, doubled or replaced, and noise. Memory flat:
after a first tenth the server grows by less than 64 MiB over all the rest.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

from privact.protocol.report import Report

BODIES, SENDERS, FLAT = 100_000, 4, 64 * 2**20
LIMITS_OFF = {"report_rate": 0, "login_failure_rate": 0, "operator_rate": 0}
OPERATOR = "operator." + "t" * 43


def memory(server) -> int:
    """Resident memory of the server in bytes."""
    pages = int(Path(f"/proc/{server.process.pid}/statm").read_text().split()[1])
    return pages * 4096


def mutated(body: bytes, draw: random.Random) -> bytes:
    """A body with one to four things wrong."""
    data = bytearray(body)
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(data) + 1)
        way = draw.randrange(6)
        if way == 0 and data:
            data[at - 1] ^= 1 << draw.randrange(8)
        elif way == 1:
            del data[at:]
        elif way == 2:
            data[at:at] = draw.randbytes(draw.randint(1, 20))
        elif way == 3:
            data += data[at:][:4000]
        elif way == 4 and data:
            data[at - 1] = draw.choice([0, 0x22, 0x5C, 0x7B, 0x7F, 0xFF])
        else:
            data[at : at + draw.randint(1, 8)] = b""
    return bytes(data)


def test_a_hundred_thousand_fuzzed_bodies(aggregator):
    server = aggregator(minimum_users=2, **LIMITS_OFF)
    server.start()
    tokens = server.enrol(["ann", "bob", *(f"user{number}" for number in range(6))])
    round_ = server.open_round("spring", n_bins=8)
    server.operate("POST", "/v1/rounds", {"id": "labelled", "epsilon": 1.0, "bins": "labels"})
    report = Report.bind(round_, "ann", range(8)).to_bytes()
    users = json.dumps({"users": ["cid", "dee@b.example", "Zoë"]}).encode()
    draft = json.dumps({"id": "next", "epsilon": 0.5, "n_bins": 4, "bins": "random", "closes": None}).encode()
    targets = [
        ("PUT", "/v1/rounds/spring/report", tokens["ann"], "application/octet-stream", report),
        ("PUT", "/v1/rounds/spring/report", tokens["bob"], "application/octet-stream", report),
        ("POST", "/v1/users", OPERATOR, "application/json", users),
        ("POST", "/v1/users/token", OPERATOR, "application/json", b'{"user": "ann0"}'),
        ("POST", "/v1/rounds", OPERATOR, "application/json", draft),
        ("PUT", "/v1/rounds/labelled/labels", OPERATOR, "text/csv", b"ann,red\nbob,blue\n"),
    ]
    weights = [10, 4, 2, 2, 2, 2]
    statuses: Counter[int] = Counter()
    left, lock, sizes = [BODIES], threading.Lock(), []

    def send(seed: int) -> None:
        draw, connection, mine = random.Random(seed), server.connection(), Counter()
        while True:
            with lock:
                if left[0] == 0:
                    break
                left[0] -= 1
                if left[0] % (BODIES // 10) == 0:
                    sizes.append(memory(server))
            method, path, token, kind, body = draw.choices(targets, weights)[0]
            connection.request(method, path, mutated(body, draw), {"Authorization": f"Bearer {token}", "Content-Type": kind})
            answer = connection.getresponse()
            answer.read()
            mine[answer.status] += 1
        connection.close()
        with lock:
            statuses.update(mine)

    threads = [threading.Thread(target=send, args=(seed,)) for seed in range(SENDERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses.total() == BODIES
    assert not [status for status in statuses if status >= 500], statuses
    assert statuses[400] > BODIES // 4  # the rest was refused otherwise, or was valid after all
    assert max(sizes[1:]) - sizes[0] < FLAT, sizes
    assert server.ask("GET", "/readyz")[0] == 200


def test_schemathesis_finds_no_server_error(aggregator):
    server = aggregator(minimum_users=2, **LIMITS_OFF)
    server.start()
    server.enrol([f"user{number}" for number in range(5)])
    server.open_round("spring", n_bins=2)
    command = [
        str(Path(sys.executable).with_name("schemathesis")),
        "run",
        f"http://127.0.0.1:{server.port}/openapi.json",
        "--header",
        f"Authorization: Bearer {OPERATOR}",
        "--checks",
        "not_a_server_error,response_schema_conformance,content_type_conformance",
        "--max-examples",
        "40",
        "--seed",
        "8",
        "--phases",
        "examples,coverage,fuzzing",
        "--no-color",
    ]
    finished = subprocess.run(command, capture_output=True, text=True, cwd=server.folder)
    assert finished.returncode == 0, finished.stdout[-6000:] + finished.stderr[-2000:]
    assert server.ask("GET", "/readyz")[0] == 200
