"""Settings from the command line, the environment and a file, and one line for whatever is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from privact.aggregator.settings import Settings, read_settings
from privact.errors import InputError


@pytest.fixture(autouse=True)
def _empty_environment(monkeypatch):
    import os

    for name in list(os.environ):
        if name.startswith("PRIVACT_"):
            monkeypatch.delenv(name)


@pytest.fixture
def config(tmp_path):
    def write(text):
        path = tmp_path / "privact.toml"
        path.write_text(text)
        return path

    return write


def test_the_command_line_wins_over_the_environment_and_that_over_the_file(config, monkeypatch):
    file = config("port = 1\nminimum_users = 11\nreport_burst = 111\n")
    monkeypatch.setenv("PRIVACT_PORT", "2")
    monkeypatch.setenv("PRIVACT_MINIMUM_USERS", "12")
    read = read_settings(file, port=3, host=None)
    assert (read.port, read.minimum_users, read.report_burst, read.host) == (3, 12, 111, "127.0.0.1")


def test_without_a_database_there_is_a_file_in_the_data_folder(tmp_path):
    assert Settings(data_folder=tmp_path).database_url == f"sqlite:///{tmp_path}/privact.sqlite3"
    assert Settings(database="postgresql://host/name").database_url == "postgresql://host/name"
    assert Settings(data_folder=tmp_path).releases_folder == tmp_path / "releases"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("prot = 1", "prot is no setting: did you mean port?"),
        ("zzz = 1", "zzz is no setting: see docs/operate.md for all of them"),
        ("port = 70000", "setting port 70000: should be less than or equal to 65535"),
        ("port = 'often'", "setting port 'often': should be a valid integer, unable to parse string as an integer"),
        ("report_rate = -1", "setting report_rate -1: should be greater than or equal to 0"),
        ("report_rate = inf", "setting report_rate inf: must be finite: 0 switches a limit off"),
        ("log_level = 'loud'", "setting log_level 'loud': should be 'debug', 'info', 'warning' or 'error'"),
        ("minimum_users = 1", "setting minimum_users 1: should be greater than or equal to 2"),
        ("port = ", "is not a TOML file: invalid value"),
    ],
)
def test_a_bad_file_is_refused_in_one_line(config, text, message):
    with pytest.raises(InputError) as refused:
        read_settings(config(text + "\n"))
    assert message.lower() in str(refused.value).lower()
    assert "\n" not in str(refused.value)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"cannot read settings from .*: no such file"):
        read_settings(tmp_path / "privact.toml")


def test_an_unknown_variable_is_refused_and_those_of_other_commands_are_not(monkeypatch):
    monkeypatch.setenv("PRIVACT_HOME", "/home/ada")
    monkeypatch.setenv("PRIVACT_URL", "https://a.example")
    assert read_settings().port == 8420
    monkeypatch.setenv("PRIVACT_MINIMUM_USER", "3")
    with pytest.raises(InputError, match="PRIVACT_MINIMUM_USER is no setting: did you mean PRIVACT_MINIMUM_USERS"):
        read_settings()


def test_a_bad_token_is_not_shown(monkeypatch):
    with pytest.raises(InputError) as refused:
        read_settings(operator_token=["secret"])
    assert "secret" not in str(refused.value)
    assert "setting operator_token" in str(refused.value)
    assert "hidden" not in repr(Settings(operator_token="operator.hidden"))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_loopback_may_be_in_the_clear(host):
    assert read_settings(host=host).host == host


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "a.example", ""])
def test_another_host_is_refused_unless_told(host):
    with pytest.raises(InputError, match=f"host {host} is not loopback and this server speaks plain HTTP"):
        read_settings(host=host)
    assert read_settings(host=host, allow_plain_http=True).host == host


def test_every_setting_is_documented():
    text = (Path(__file__).parents[2] / "docs" / "operate.md").read_text(encoding="utf-8")
    rows = {line.split("`")[1] for line in text.splitlines() if line.startswith("| `")}
    assert rows >= set(Settings.model_fields)
    for name, field in Settings.model_fields.items():
        assert field.description, name
