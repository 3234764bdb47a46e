"""privact data: downloads from a server of our own, imports, refusals; nothing half-done is ever left behind."""

from __future__ import annotations

import hashlib
import io
import json
import threading
import zipfile
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType

import pytest
from typer.testing import CliRunner

from privact.cli.main import app
from privact.network import sources
from privact.network.dataset_content import Content
from privact.network.fetch import explain_manual_download

CONTENT = Content([(2, 9), (9, 4)], [(2, 51, 13883), (9, 51, 7)])


def packed(**changed):
    """An archive in the layout of lastfm."""
    files = {
        "user_friends.dat": "userID\tfriendID\r\n2\t9\r\n9\t2\r\n9\t4\r\n4\t9\r\n",
        "user_artists.dat": "userID\tartistID\tweight\r\n2\t51\t13883\r\n9\t51\t7\r\n",
        **changed,
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(name), text)
    return out.getvalue()


ARCHIVE = packed()


class Official(BaseHTTPRequestHandler):
    """Gives out what the server holds, in the way that the path asks for."""

    def do_HEAD(self):
        self.server.asked.append("HEAD")
        self.send_response(405 if "/shy/" in self.path else 404 if "/gone/" in self.path else 200)
        self.send_header("Content-Length", str(len(self.server.archive)))
        self.end_headers()

    def do_GET(self):
        self.server.asked.append("GET")
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.server.archive)))
        self.end_headers()
        self.wfile.write(self.server.archive[: 40 if "/broken/" in self.path else None])

    def log_message(self, *said):
        pass


@pytest.fixture
def server(monkeypatch):
    """A server on this machine, which stands for the official place of lastfm."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with ThreadingHTTPServer(("127.0.0.1", 0), Official) as running:
        running.archive, running.asked = ARCHIVE, []
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def official(monkeypatch):
    """Puts the address and the checksums of the made-up archive in the place of lastfm's."""

    def official(server=None, way="", **changed):
        address = (
            "http://127.0.0.1:9/archive.zip" if server is None else f"http://127.0.0.1:{server.server_port}/{way}archive.zip"
        )
        made_up = replace(
            sources.SOURCES["lastfm"],
            address=address,
            archive_sha256=hashlib.sha256(ARCHIVE).hexdigest(),
            contacts_sha256=CONTENT.contacts_sha256,
            ratings_sha256=CONTENT.ratings_sha256,
        )
        source = replace(made_up, **changed)
        monkeypatch.setattr(sources, "SOURCES", MappingProxyType({"lastfm": source}))
        return source

    return official


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """Where temporary files go."""
    place = tmp_path / "scratch"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    return place


def complaint(result, code=2):
    """The one line of a command that failed."""
    assert result.exit_code == code
    assert result.stderr.count("\n") == 1
    return result.stderr


def test_it_shows_everything_first_then_downloads_checks_and_converts(run, server, official, tmp_path, scratch):
    source = official(server)
    result = run("data", "get", "lastfm", "-o", tmp_path / "data", "--yes")
    assert (result.exit_code, result.stderr) == (0, "")
    shown = result.stdout[: result.stdout.index("The archive has SHA-256")]
    for fact in (source.page, source.address, f"{len(ARCHIVE):,} bytes", source.archive_sha256, "non-commercial use"):
        assert fact in " ".join(shown.split())
    assert {path.name for path in (tmp_path / "data" / "lastfm").iterdir()} == {"social.tsv.gz", "ratings.tsv.gz"}
    assert list(scratch.iterdir()) == []
    assert server.asked == ["HEAD", "GET"]
    again = run("data", "get", "lastfm", "-o", tmp_path / "data", "--yes")
    assert again.exit_code == 0
    assert "already" in again.stdout
    assert server.asked == ["HEAD", "GET"]


def test_json_holds_the_same(ask, server, official, tmp_path):
    source = official(server)
    found = ask("data", "get", "lastfm", "-o", tmp_path / "data", "--yes")
    assert found["source"]["licence"] == source.licence
    assert (found["archive_sha256"], found["same_archive"], found["same_ratings"]) == (source.archive_sha256, True, True)
    assert (found["n_contacts"], found["n_ratings"]) == (2, 2)
    assert ask("data", "get", "lastfm", "-o", tmp_path / "data")["already_there"] is True


def test_without_a_yes_nothing_is_downloaded(run, server, official, tmp_path):
    official(server)
    result = run("data", "get", "lastfm", "-o", tmp_path / "data")
    assert "add --yes" in complaint(result)
    assert "non-commercial" in result.stdout
    assert "add --yes" in complaint(run("data", "get", "lastfm", "-o", tmp_path / "data", "--json"))
    assert server.asked == ["HEAD"]
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(("typed", "code"), [("n\n", 1), ("\n", 1), ("", 1), ("y\n", 0), ("Yes\n", 0)])
def test_a_person_can_say_no_and_yes(server, official, tmp_path, monkeypatch, typed, code):
    official(server)
    monkeypatch.setattr("privact.cli.studies.data._is_interactive", lambda: True)
    result = CliRunner().invoke(app, ["data", "get", "lastfm", "-o", str(tmp_path / "data")], input=typed)
    assert result.exit_code == code
    assert "under these terms? [y/N]" in result.stderr
    assert ("Nothing was downloaded" in result.stdout) == (code == 1)
    assert server.asked == (["HEAD"] if code else ["HEAD", "GET"])
    assert (tmp_path / "data" / "lastfm" / "social.tsv.gz").is_file() == (code == 0)


def test_a_wrong_checksum_is_refused_and_leaves_nothing(run, server, official, tmp_path, scratch):
    source = official(server)
    server.archive = packed(**{"readme.txt": "changed"})
    said = complaint(run("data", "get", "lastfm", "-o", tmp_path / "data", "--yes"))
    assert hashlib.sha256(server.archive).hexdigest() in said
    assert source.archive_sha256 in said
    assert not (tmp_path / "data").exists()
    assert list(scratch.iterdir()) == []


def test_without_a_known_checksum_the_content_decides(run, server, official, tmp_path, scratch):
    official(server, archive_sha256=None)
    server.archive = packed(**{"user_friends.dat": "userID\tfriendID\n2\t9\n"})
    result = run("data", "get", "lastfm", "-o", tmp_path / "data", "--yes")
    assert "holds 1 contacts that are not those of lastfm" in complaint(result)
    assert not (tmp_path / "data").exists()
    assert list(scratch.iterdir()) == []
    server.archive = packed(**{"readme.txt": "another packing"})
    assert run("data", "get", "lastfm", "-o", tmp_path / "data", "--yes").exit_code == 0


@pytest.mark.parametrize("certain", [True, False])
def test_other_ratings_are_refused_or_said(run, official, tmp_path, certain):
    official(ratings_sha256="0" * 64, ratings_certain=certain)
    (tmp_path / "copy.zip").write_bytes(ARCHIVE)
    result = run("data", "get", "lastfm", "--from", tmp_path / "copy.zip", "-o", tmp_path / "data")
    if certain:
        assert "2 ratings that are not those of lastfm" in complaint(result)
        assert not (tmp_path / "data").exists()
    else:
        assert result.exit_code == 0
        assert "expect other numbers" in " ".join(result.stdout.split())


def test_a_download_that_breaks_off_leaves_nothing(run, server, official, tmp_path, scratch):
    official(server, "broken/")
    said = complaint(run("data", "get", "lastfm", "-o", tmp_path / "data", "--yes"))
    assert f"broke off after 40 of {len(ARCHIVE):,} bytes" in said
    assert not (tmp_path / "data").exists()
    assert list(scratch.iterdir()) == []


def test_a_server_that_does_not_tell_the_size_is_asked_for_the_file(run, server, official, tmp_path):
    official(server, "shy/")
    result = run("data", "get", "lastfm", "-o", tmp_path / "data", "--yes")
    assert result.exit_code == 0
    assert "not known" in result.stdout
    official(server, "gone/")
    assert "answers 404" in complaint(run("data", "get", "lastfm", "-o", tmp_path / "other", "--yes"))


def test_offline_it_says_which_file_from_where_and_the_command_that_imports_it(run, official, tmp_path):
    source = official()
    result = run("data", "get", "lastfm", "-o", tmp_path / "data", "--yes")
    said = complaint(result)
    assert f"cannot reach {source.address}" in said
    assert explain_manual_download(source, tmp_path / "data") in said
    assert f"privact data get lastfm --from hetrec2011-lastfm-2k.zip -o {tmp_path / 'data'}" in said
    assert not (tmp_path / "data").exists()


def test_a_dataset_without_an_address_is_imported_only(run, official, tmp_path):
    source = official(address=None)
    said = complaint(run("data", "get", "lastfm", "-o", tmp_path / "data", "--yes"))
    assert "no address that a program can fetch" in said
    assert source.page in said


def test_a_local_archive_is_imported_without_a_question(run, ask, official, tmp_path):
    source = official()
    copy = tmp_path / "copy.zip"
    copy.write_bytes(packed(**{"readme.txt": "packed anew"}))
    result = run("data", "get", "lastfm", "--from", copy, "-o", tmp_path / "data")
    assert result.exit_code == 0
    assert source.licence.split(";")[0] in result.stdout
    assert "another packing of the same content" in " ".join(result.stdout.split())
    assert {each["name"]: each["here"] for each in ask("data", "list", "--data", tmp_path / "data")["datasets"]} == {
        "lastfm": "yes"
    }


def test_an_import_that_fails_is_one_line_and_leaves_nothing(run, official, tmp_path):
    official()
    (tmp_path / "page.zip").write_text("<html>")
    (tmp_path / "hostile.zip").write_bytes(packed(**{"../../escaped.dat": "x"}))
    for name, message in (("page.zip", "not a zip"), ("hostile.zip", "outside of itself"), ("none.zip", "cannot read")):
        assert message in complaint(run("data", "get", "lastfm", "--from", tmp_path / name, "-o", tmp_path / "data"))
    assert not (tmp_path / "data").exists()
    assert not list(tmp_path.parent.glob("**/escaped.dat"))


def test_other_files_in_the_place_are_not_overwritten(run, official, tmp_path):
    official()
    (tmp_path / "data" / "lastfm").mkdir(parents=True)
    mine = tmp_path / "data" / "lastfm" / "social.tsv.gz"
    mine.write_bytes(b"mine")
    (tmp_path / "copy.zip").write_bytes(ARCHIVE)
    assert "remove it first" in complaint(run("data", "get", "lastfm", "--from", tmp_path / "copy.zip", "-o", tmp_path / "data"))
    assert mine.read_bytes() == b"mine"


def test_the_list_names_all_datasets_and_an_unknown_one_is_one_line(run, tmp_path):
    result = run("data", "list", "--data", tmp_path)
    assert [line.split()[0] for line in result.stdout.splitlines()[1:]] == ["lastfm", "delicious", "douban"]
    assert "hetrec2011-delicious-2k.zip" in result.stdout
    assert "'myspace' is not one of lastfm, delicious, douban" in complaint(run("data", "get", "myspace"))
    assert json.loads(run("data", "list", "--json").stdout)["datasets"][2]["address"] is None
