"""Promise 14. Nothing that the network can see depends on contacts: not the requests, not their order, not their time.

The contacts file is a pipe that nobody writes to until every request but the report was made and its time was drawn.
"""

from __future__ import annotations

import os
import threading

import httpx
import pytest
from typer.testing import CliRunner

from pretend_aggregator import PretendAggregator
from privact.cli.main import app
from privact.device import answer, slots

URL = "https://clusters.example"
CARD = "BEGIN:VCARD\nVERSION:3.0\nFN:Bob\n{}\nEND:VCARD\n"


@pytest.fixture
def world(server: PretendAggregator, tmp_path, monkeypatch):
    """A joined device whose requests go to the pretended aggregator; returns it and a list of what happened in order."""
    happened: list[str] = []
    real = httpx.Client

    def respond(request: httpx.Request) -> httpx.Response:
        happened.append(f"{request.method} {request.url.path}")
        return server.answer(request)

    def drawn(*arguments: float) -> int:
        happened.append("slot")
        return slots.draw_slot(*arguments)

    monkeypatch.setattr(httpx, "Client", lambda **options: real(**{**options, "transport": httpx.MockTransport(respond)}))
    monkeypatch.setattr(answer, "draw_slot", drawn)
    monkeypatch.setattr("time.time", lambda: float(server.now))
    monkeypatch.setattr("time.sleep", lambda seconds: happened.append("sleep"))
    monkeypatch.setenv("PRIVACT_HOME", str(tmp_path / "home"))
    assert CliRunner().invoke(app, ["device", "join", URL, "--token", server.token]).exit_code == 0
    happened.clear()
    server.announce()
    return server, happened


def run(path, *more: str):
    return CliRunner().invoke(app, ["device", "answer", "--yes", "--contacts", str(path), *more], catch_exceptions=False)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the contacts come through a pipe")
def test_every_request_and_the_time_of_sending_come_before_the_first_contact(world, tmp_path, monkeypatch) -> None:
    _, happened = world
    pipe = tmp_path / "contacts"
    os.mkfifo(pipe)
    monkeypatch.setattr("privact.device.contacts.contact_list.check_contacts_file", lambda *arguments: None)
    seen: list[list[str]] = []

    def write() -> None:
        with open(pipe, "w") as stream:  # returns when the device opens the file to read it
            seen.append(list(happened))
            stream.write("bob@a.example\n")

    writer = threading.Thread(target=write)
    writer.start()
    result = run(pipe)
    writer.join()
    assert result.exit_code == 0, result.output
    assert seen == [["GET /v1/me", "GET /v1/log", "GET /v1/rounds/spring/parameters", "slot"]]
    assert happened == [*seen[0], "sleep", "PUT /v1/rounds/spring/report"]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "bob@a.example\n" * 3,
        "bob eve zoe\n",
        CARD.format("TEL:5"),
        CARD.format("EMAIL:@"),
        CARD.format("EMAIL;ENCODING=QUOTED-PRINTABLE;CHARSET=none:b=40b.c"),
        CARD.format("no colon in this line"),
        "Account address,Show boosts\n,true\n",
        "zoé\n".encode("latin-1"),
    ],
    ids=["nobody", "edges", "odd row", "no e-mail", "no id", "charset", "odd line", "no address", "no text"],
)
def test_no_single_contact_silences_a_device(world, tmp_path, content) -> None:
    server, happened = world
    path = tmp_path / "contacts"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    result = run(path)
    assert result.exit_code == 0, result.output
    assert list(server.reports) == ["spring"]
    assert happened == [
        "GET /v1/me", "GET /v1/log", "GET /v1/rounds/spring/parameters", "slot", "sleep", "PUT /v1/rounds/spring/report",
    ]  # fmt: skip
