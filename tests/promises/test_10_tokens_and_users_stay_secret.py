"""Promise 10: tokens are in no database row, log or artefact; user existence cannot be told by bytes or by timing.

Timing: 200 requests each for an enrolled user with a wrong token and for a user who does not exist, interleaved; a rank test
that finds a shift of half a standard deviation with probability 0.99 must not find one (p >= 0.001).
"""

from __future__ import annotations

import hashlib
import time

from scipy.stats import mannwhitneyu

from privact.protocol.report import Report
from privact.protocol.users import user_digest

TRIES = 200
PLACES = [("GET", "/v1/me", None), ("PUT", "/v1/rounds/spring/report", b"PCRP"), ("GET", "/v1/rounds/spring/report", None)]


def test_a_token_is_nowhere_but_in_the_answer_that_gave_it(aggregator, tmp_path):
    server = aggregator(minimum_users=100, log_level="debug")
    server.start()
    tokens = server.enrol([f"user{number}" for number in range(120)])
    replaced = server.operate("POST", "/v1/users/token", {"user": "user0"})["token"]
    round_ = server.open_round("spring", n_bins=4)
    for number, (user, token) in enumerate((tokens | {"user0": replaced}).items()):
        body = Report.bind(round_, user, (987_654 + number, -7, 3, 0)).to_bytes()
        assert server.ask("PUT", "/v1/rounds/spring/report", body, token)[0] == 201
    assert server.ask("GET", "/v1/me", token=tokens["user0"])[0] == 401  # the replaced token is dead
    server.operate("POST", "/v1/rounds/spring/close")
    deadline = time.monotonic() + 120
    while (state := server.operate("GET", "/v1/rounds/spring")["state"]) != "released":
        assert state != "failed"
        assert time.monotonic() < deadline
        time.sleep(0.2)
    server.ask("GET", f"/v1/rounds?token={replaced}", token="nonsense." + "x" * 43)
    server.stop()
    secrets = [token.split(".")[1].encode() for token in [*tokens.values(), replaced, "operator." + "t" * 43]]
    kept = [path for path in server.folder.rglob("*") if path.is_file()]
    assert {path.suffix for path in kept} >= {".hct", ".sqlite3", ".log"}
    for path in kept:
        content = path.read_bytes()
        assert not [secret for secret in secrets if secret in content], f"a token is in {path.name}"
    database = b"".join(path.read_bytes() for path in kept if "sqlite3" in path.name)
    assert hashlib.sha256(tokens["user5"].encode()).digest() in database  # what is kept instead
    released = next(path for path in kept if path.suffix == ".hct").read_bytes()
    log = server.log.read_text()
    assert "987654" not in log  # no entry of a vector either
    assert "987" + "654" not in released.decode("latin-1")


def test_an_unknown_user_and_a_wrong_token_get_the_same_bytes_at_the_same_pace(aggregator):
    server = aggregator(minimum_users=2, login_failure_rate=0)
    server.start()
    server.enrol([f"user{number}" for number in range(50)])
    server.open_round("spring", n_bins=2)
    enrolled = f"{user_digest('user7').hex()}.{'a' * 43}"
    stranger = f"{user_digest('nobody').hex()}.{'a' * 43}"
    for method, path, body in PLACES:
        answers = {
            raw_answer(server, method, path, body, token) for token in (enrolled, stranger, "x", "", "operator." + "a" * 43)
        }
        assert len(answers) == 1, answers
        assert next(iter(answers)).startswith(b"401")
    seconds: dict[str, list[float]] = {enrolled: [], stranger: []}
    for _ in range(TRIES):
        for token in (enrolled, stranger):
            begin = time.perf_counter()
            server.ask("GET", "/v1/me", token=token)
            seconds[token].append(time.perf_counter() - begin)
    assert mannwhitneyu(seconds[enrolled], seconds[stranger]).pvalue >= 0.001


def raw_answer(server, method, path, body, token) -> bytes:
    """Status, headers but the date, and body of an answer, as bytes."""
    connection = server.connection()
    connection.request(method, path, body, {"Authorization": f"Bearer {token}"})
    answer = connection.getresponse()
    headers = sorted((name.lower(), value) for name, value in answer.getheaders() if name.lower() not in {"date", "x-request-id"})
    content = answer.read()
    connection.close()
    return f"{answer.status} {headers} ".encode() + content
