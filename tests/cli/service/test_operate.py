"""privact users and privact round against a real server on loopback."""

from __future__ import annotations

import json
import os
import socket
import threading
import time

import pytest
import uvicorn

from privact.aggregator.http.app import create_app
from privact.aggregator.settings import Settings
from privact.cli.times import moment, seconds, write_time
from privact.errors import InputError

OPERATOR = "operator." + "o" * 43


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    settings = Settings(data_folder=tmp_path_factory.mktemp("data"), operator_token=OPERATOR, minimum_users=3, operator_rate=0)
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(create_app(settings), log_config=None, lifespan="on", ws="none"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    thread.join()
    listener.close()


@pytest.fixture(autouse=True)
def _operator(url, monkeypatch):
    monkeypatch.setenv("PRIVACT_OPERATOR_TOKEN", OPERATOR)
    monkeypatch.setenv("PRIVACT_URL", url)


@pytest.fixture
def users_file(tmp_path):
    def write(*users):
        path = tmp_path / "users.txt"
        path.write_text("# our users\n\n" + "".join(f"{user}\n" for user in users), encoding="utf-8")
        return path

    return write


def refused(run, *arguments):
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    return line.removeprefix("privact: ")


def test_tokens_go_to_stdout_and_words_to_stderr(run, users_file):
    result = run("users", "add", users_file("One@a.example", "two", "TWO"))
    assert result.exit_code == 0
    rows = [line.split("\t") for line in result.stdout.splitlines()]
    assert [user for user, _ in rows] == ["one@a.example", "two"]
    assert all(len(token) == 32 + 1 + 43 for _, token in rows)
    assert "2 users are enrolled" in result.stderr
    assert "1 were enrolled before or named twice: two" in result.stderr
    assert run("users", "add", users_file("two")).stdout == ""


def test_tokens_go_to_a_file_that_only_its_owner_reads_and_that_is_never_overwritten(run, ask, users_file, tmp_path):
    target = tmp_path / "tokens.tsv"
    summary = ask("users", "add", users_file("filed"), "-o", target)
    assert summary == {"enrolled": 1, "existing": [], "output": str(target)}
    assert target.read_text().startswith("filed\t")
    if os.name == "posix":
        assert target.stat().st_mode & 0o777 == 0o600
    before = target.read_bytes()
    assert "is there already and may hold tokens" in refused(run, "users", "add", users_file("other"), "-o", target)
    assert target.read_bytes() == before
    assert "other" not in run("users", "list").stdout


def test_json_holds_the_tokens(ask, users_file):
    answer = ask("users", "add", users_file("jay"))
    assert (answer["enrolled"], list(answer["tokens"])) == (1, ["jay"])


def test_users_are_listed_get_new_tokens_and_are_removed(run, ask, users_file):
    first = ask("users", "add", users_file("liz"))["tokens"]["liz"]
    assert "liz" in run("users", "list").stdout
    listed = ask("users", "list")
    assert listed["total"] == len(listed["users"])
    second = run("users", "token", "LIZ").stdout.strip()
    assert second[:33] == first[:33]
    assert second != first
    assert run("users", "remove", "liz").stdout == "liz is removed.\n"
    assert "liz" not in run("users", "list").stdout
    assert refused(run, "users", "remove", "liz") == "no user 'liz' is enrolled"


def test_a_round_from_draft_to_the_end(run, ask, users_file, tmp_path):
    run("users", "add", users_file("ann", "bob", "cat"))
    draft = ask("round", "create", "winter", "--epsilon", "0.5", "--closes", "+2d", "--joiners", "12h", "--bins", "2")
    assert (draft["state"], draft["epsilon"], draft["joiner_seconds"], draft["n_bins"]) == ("draft", 0.5, 43200, 2)
    assert abs(draft["closes"] - time.time() - 2 * 86400) < 3600
    text = run("round", "open", "winter").stdout
    assert "open" in text
    assert "0.5 per contact, 0.25 per report" in text
    assert "winter" in run("round", "list").stdout
    assert ask("round", "show", "winter")["state"] == "open"
    assert "late joiners" in run("round", "show", "winter").stdout
    assert "reports and needs 3: closed now it fails" in refused(run, "round", "close", "winter")
    assert refused(run, "round", "delete", "winter") == "round 'winter' is open, not a draft: only drafts can be deleted"
    assert ask("round", "close", "winter", "--force")["state"] in ("closed", "learning", "failed")
    end = time.monotonic() + 60
    while ask("round", "show", "winter")["state"] != "failed":
        assert time.monotonic() < end
        time.sleep(0.05)
    shown = run("round", "show", "winter").stdout
    assert "failed: 0 reports are fewer than the 3" in shown
    assert "late joiners" not in shown  # there is no tree that anybody could join
    assert "everybody" in shown
    assert refused(run, "round", "close", "winter") == "round 'winter' is failed, not open"


def test_labels_come_from_a_file(run, ask, tmp_path, users_file):
    run("users", "add", users_file("ann", "bob", "cat"))
    ask("round", "create", "labelled", "--epsilon", "1", "--labels")
    labels = tmp_path / "labels.csv"
    labels.write_text("user,label\nann,x\nbob,y\ncat,z\n")
    assert ask("round", "labels", "labelled", labels)["state"] == "draft"
    assert "3, public labels" in run("round", "open", "labelled").stdout
    assert "cannot read" in refused(run, "round", "labels", "labelled", tmp_path / "nowhere.csv")


def test_what_the_server_refuses_is_one_line(run):
    assert refused(run, "round", "show", "nowhere") == "no round 'nowhere'"
    assert "epsilon: should be greater than" in refused(run, "round", "create", "bad", "--epsilon", "0")
    assert refused(run, "round", "open", "../users") == "nothing is at this address"


def test_a_wrong_or_missing_token_is_one_line(run, monkeypatch, tmp_path):
    monkeypatch.setenv("PRIVACT_OPERATOR_TOKEN", "operator." + "x" * 43)
    assert "a valid token is needed" in refused(run, "users", "list")
    (tmp_path / "token").write_text(OPERATOR + "\n")
    assert run("users", "list", "--token-file", tmp_path / "token").exit_code == 0
    assert "cannot read the token" in refused(run, "users", "list", "--token-file", tmp_path / "nowhere")
    monkeypatch.delenv("PRIVACT_OPERATOR_TOKEN")
    assert "set PRIVACT_OPERATOR_TOKEN or pass --token-file FILE" in refused(run, "users", "list")


def test_a_server_that_is_not_there_is_one_line(run):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    line = refused(run, "round", "list", "--url", f"http://127.0.0.1:{port}")
    assert line.startswith(f"cannot reach http://127.0.0.1:{port}: ")
    assert line.endswith("is privact serve running there?")


@pytest.mark.parametrize("url", ["http://a.example", "http://192.0.2.1:8420"])
def test_the_token_is_not_sent_in_the_clear_to_another_machine(run, url):
    assert "anyone on the way could read the token" in refused(run, "users", "list", "--url", url)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("a.example", "is no address"),
        ("ftp://a.example", "reached by https://"),
        ("http://", "names no host"),
        ("127.0.0.1:8420", "is no address"),
    ],
)
def test_an_address_that_is_none(run, url, reason):
    assert reason in refused(run, "users", "list", "--url", url)


def test_a_server_that_is_something_else_is_one_line(run):
    class Other(threading.Thread):
        def run(self):
            for _ in range(2):
                with listener.accept()[0] as connection:
                    connection.recv(65536)
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        other = Other(daemon=True)
        other.start()
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        assert refused(run, "round", "list", "--url", address) == f"{address} did not answer in JSON: is it an aggregator?"


def test_tokens_that_were_given_are_not_lost_when_the_rest_fails(run, users_file, monkeypatch):
    from privact.cli.service import users as commands

    monkeypatch.setattr(commands, "_AT_ONCE", 2)
    result = run("users", "add", users_file("first", "second", "\u200b bad", "fourth"))
    assert result.exit_code == 2
    assert [line.split("\t")[0] for line in result.stdout.splitlines()] == ["first", "second"]
    again = run("users", "add", users_file("third", "fourth", "\u200b bad"), "--json")
    assert again.exit_code == 2
    assert list(json.loads(again.stdout)["tokens"]) == ["third", "fourth"]


@pytest.mark.parametrize("content", [b"", b"# nobody\n\n", b"\xff\xfe"])
def test_a_file_without_users_is_refused(run, tmp_path, content):
    path = tmp_path / "users.txt"
    path.write_bytes(content)
    assert "give one user id per line" in refused(run, "users", "add", path)


def test_times_as_people_write_them():
    assert moment(None, "--closes") is None
    assert moment("1767225600", "--closes") == 1767225600
    assert moment("2026-01-01T00:00Z", "--closes") == 1767225600
    assert moment("2026-01-01T01:00+01:00", "--closes") == 1767225600
    assert moment("2026-01-01", "--closes") == 1767225600
    assert [seconds(text, "--joiners") for text in ("90", "90s", "15m", "12h", "7d", "2w")] == [
        90,
        90,
        900,
        43200,
        604800,
        1209600,
    ]
    assert (write_time(1767225600), write_time(None)) == ("1 January 2026, 00:00 UTC", "-")
    for wrong in ("soon", "+", "+1y", "2026-13-01"):
        with pytest.raises(InputError, match="--closes"):
            moment(wrong, "--closes")


def test_operators_get_tokens_with_scopes_and_leave_traces(run, ask, monkeypatch):
    token = run("operators", "add", "night-shift", "--scope", "read", "--scope", "rounds", "--expires", "+90d").stdout.strip()
    assert token.startswith("operator.")
    listed = {one["name"]: one for one in ask("operators", "list")["operators"]}
    assert listed["night-shift"]["scopes"] == ["read", "rounds"]
    assert listed["night-shift"]["expires_at"] > time.time()
    assert "night-shift" in run("operators", "list").stdout
    monkeypatch.setenv("PRIVACT_OPERATOR_TOKEN", token)
    assert "may not do this: it has read, rounds, this needs users" in refused(run, "users", "revoke-all")
    ask("round", "create", "at-night", "--epsilon", "1")
    done = ask("operators", "log", "--limit", "1")["actions"]
    assert [(one["operator"], one["action"], one["subject"]) for one in done] == [("night-shift", "POST /v1/rounds", "at-night")]
    assert "at-night" in run("operators", "log").stdout
    monkeypatch.setenv("PRIVACT_OPERATOR_TOKEN", OPERATOR)
    assert run("operators", "remove", "night-shift").stdout == "night-shift is removed.\n"
    assert "choose from read, rounds, users, operators" in refused(run, "operators", "add", "x", "--scope", "everything")


def test_users_are_erased_and_all_tokens_revoked(run, ask, users_file):
    run("users", "add", users_file("gone@a.example", "stays@a.example"))
    assert run("users", "remove", "gone@a.example", "--erase").stdout == "gone@a.example is erased.\n"
    assert "no user 'gone@a.example' is or was enrolled" in refused(run, "users", "remove", "gone@a.example", "--erase")
    assert ask("users", "revoke-all")["revoked"] >= 1


def test_only_a_failed_round_is_learned_again(run, ask):
    ask("round", "create", "not-failed", "--epsilon", "1", "--visibility", "users")
    assert refused(run, "round", "learn", "not-failed") == (
        "round 'not-failed' is draft, not failed: only a failed round can be learned again"
    )


def test_invitations_are_files_for_their_owner_and_a_device_joins_with_one(run, ask, users_file, tmp_path, url):
    folder = tmp_path / "invitations"
    summary = ask("users", "add", users_file("guest/1@a.example", "guest2"), "--invitations", folder)
    assert summary == {"enrolled": 2, "existing": [], "invitations": str(folder)}
    links = dict(line.split("\t") for line in (folder / "links.tsv").read_text().splitlines())
    assert sorted(links) == ["guest/1@a.example", "guest2"]
    assert all(link.startswith(f"{url}/join#invite-") for link in links.values())
    first, second = "00001-guest_1@a.example", "00002-guest2"
    assert {path.name for path in folder.iterdir()} == {
        f"{first}.png",
        f"{first}.txt",
        f"{second}.png",
        f"{second}.txt",
        "links.tsv",
    }
    assert links["guest2"] in (folder / "00002-guest2.txt").read_text()
    assert (folder / "00002-guest2.png").read_bytes().startswith(b"\x89PNG")
    if os.name == "posix":
        assert folder.stat().st_mode & 0o777 == 0o700
        assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    assert "is not empty and may hold invitations" in refused(run, "users", "add", users_file("x"), "--invitations", folder)
    home = tmp_path / "home"
    assert ask("device", "join", links["guest2"], "--home", home)["user"] == "guest2"
    assert not (home / "joining.json").exists()
    assert "used before" in refused(run, "device", "join", links["guest2"], "--home", tmp_path / "elsewhere")
    assert "guest2  (joined)" in run("users", "list").stdout
    assert "guest/1@a.example  (invited)" in run("users", "list").stdout


def test_invitations_are_renewed_and_revoked(run, ask, users_file, tmp_path, url):
    run("users", "add", users_file("renewed"))
    first = ask("users", "invite", "Renewed")["links"]["renewed"]
    page = "https://pages.example/"
    second = ask("users", "invite", "renewed", "--page", page)["links"]["renewed"]
    assert second.startswith(f"{page}#invite-")
    assert second.endswith(f"@{url}")
    home = tmp_path / "home"
    assert "does not know this invitation" in refused(run, "device", "join", first, "--home", home)
    assert run("users", "revoke", "renewed").stdout == "renewed has neither a token nor an invitation now.\n"
    assert "does not know this invitation" in refused(run, "device", "join", second, "--home", home)
    assert "an invitation needs no token" in refused(run, "device", "join", second, "--token", "x", "--home", home)
    assert "is no invitation" in refused(run, "device", "join", url, "--home", home)


def test_a_device_that_was_killed_after_using_an_invitation_uses_it_again(ask, users_file, tmp_path):
    from privact.client.joining import accept_invitation
    from privact.device.ledger.kept_token import keep_token
    from privact.protocol.invitation_links import read_invitation

    ask("users", "add", users_file("killed"))
    link = ask("users", "invite", "killed")["links"]["killed"]
    address, code = read_invitation(link)
    accept_invitation(address, code, keep_token(tmp_path / "home", code))  # and here it is killed
    assert ask("device", "join", link, "--home", tmp_path / "home")["user"] == "killed"


def test_a_series_is_made_opened_listed_and_stopped(run, users_file, tmp_path):
    fewer = refused(run, "series", "create", "early", "--epsilon", "4", "--rounds", "1")
    assert "rounds" in fewer
    run("users", "add", users_file(*(f"member{number}" for number in range(5))))
    made = json.loads(run("series", "create", "autumn", "--epsilon", "4", "--rounds", "4", "--every", "7d", "--json").stdout)
    assert (made["state"], made["every_seconds"], [each["id"] for each in made["members"]]) == ("running", 604800, ["autumn.1"])
    assert made["members"][0]["series"] == {"name": "autumn", "number": 1, "rounds": 4, "epsilon": 4.0}
    shown = run("series", "show", "autumn").stdout
    assert "4 per contact in all, 1 in each round" in shown
    assert "1 of 4, epsilon 1 asked so far" in shown
    labels = tmp_path / "labels.csv"
    labels.write_text("member0,a\nmember1,b\n")
    with_labels = json.loads(run("series", "create", "winter", "--epsilon", "2", "--labels", labels, "--json").stdout)
    assert with_labels["rounds"] == 4
    assert (with_labels["members"][0]["bins"], with_labels["members"][0]["n_bins"]) == ("labels", 2)
    assert "autumn" in run("series", "list").stdout
    assert "wait for more, or force it" in run("series", "stop", "autumn").stderr  # what was spent would be lost
    stopped = json.loads(run("series", "stop", "autumn", "--force", "--json").stdout)
    assert stopped["stopped_at"] is not None
    assert "has ended already" in refused(run, "series", "stop", "autumn")
    assert "choose another name" in refused(run, "series", "create", "winter", "--epsilon", "2")
    assert "no series 'nothing'" in refused(run, "series", "show", "nothing")
    labels.write_text("\n")
    assert "the series is a draft" in refused(run, "series", "create", "wniter", "--epsilon", "2", "--labels", labels)
    assert run("series", "delete", "wniter").stdout == "The draft wniter is deleted.\n"
    assert "no series 'wniter'" in refused(run, "series", "show", "wniter")
    assert "only drafts can be deleted" in refused(run, "series", "delete", "winter")
