"""privact serve refuses in one line what cannot be; tests/aggregator/test_server.py runs it."""

from __future__ import annotations

import os
import socket
import sqlite3

import pytest

from privact.aggregator.storage.database import Store


@pytest.fixture
def refused(run, tmp_path, monkeypatch):
    """Run `privact serve` with a free port in an empty folder, where it must not come to listen; its one line."""
    for name in list(os.environ):
        if name.startswith("PRIVACT_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)

    def refused(*arguments):
        result = run("serve", *([] if "--port" in arguments else ["--port", "0"]), *arguments)
        assert (result.exit_code, result.stdout) == (2, "")
        (line,) = result.stderr.splitlines()
        return line.removeprefix("privact: ")

    return refused


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--host", "0.0.0.0"], "host 0.0.0.0 is not loopback and this server speaks plain HTTP"),
        (["--host", "nowhere.invalid", "--allow-plain-http"], "cannot listen on nowhere.invalid port 0"),
        (["--port", "70000"], "setting port 70000: should be less than or equal to 65535"),
        (["--log-level", "loud"], "setting log_level 'loud'"),
        (["--config", "nowhere.toml"], "cannot read settings from nowhere.toml: no such file or directory"),
        (["--database", "mysql://x"], "database mysql is not supported"),
        (["--database", "sqlite:///nowhere/at/all.sqlite3"], "there is no folder"),
        (["--minimum-users", "1"], "setting minimum_users 1: should be greater than or equal to 2"),
    ],
)
def test_options_that_cannot_be(refused, arguments, told):
    assert told in refused(*arguments)


def test_variables_that_cannot_be(refused, monkeypatch):
    monkeypatch.setenv("PRIVACT_OPERATOR_TOKEN", "easy")
    assert "the operator's token must be 'operator.' and 43 of" in refused()
    monkeypatch.setenv("PRIVACT_PROT", "1")
    assert refused() == "environment variable PRIVACT_PROT is no setting: did you mean PRIVACT_PORT?"


def test_a_port_that_is_taken(refused):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        line = refused("--port", str(port))
    assert line == f"cannot listen on 127.0.0.1 port {port}: address already in use: choose another with --port"


def test_a_folder_that_cannot_be_made(refused, tmp_path):
    (tmp_path / "file").write_text("")
    line = refused("--data-folder", str(tmp_path / "file" / "data"))
    assert line == f"cannot make data folder {tmp_path}/file/data: not a directory: choose another"


def test_a_folder_that_another_server_uses(refused, tmp_path):
    fcntl = pytest.importorskip("fcntl")
    (tmp_path / "data").mkdir()
    with open(tmp_path / "data" / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "another server holds data/lock: stop it" in refused("--data-folder", "data")
    database = f"sqlite:///{tmp_path}/data/privact.sqlite3"
    with open(tmp_path / "data" / "privact.sqlite3.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "another server holds" in refused("--data-folder", "other", "--database", database)


def test_tables_of_a_newer_version(refused, tmp_path):
    Store.open(f"sqlite:///{tmp_path}/privact.sqlite3").close()
    database = sqlite3.connect(tmp_path / "privact.sqlite3")
    database.execute("UPDATE alembic_version SET version_num = '9999'")
    database.commit()
    database.close()
    assert "revision 9999, which this privact does not know: update privact" in refused("--data-folder", str(tmp_path))
