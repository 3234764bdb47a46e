"""The page is written with its digests, and a served page that differs in one byte is found out."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable

import httpx
import pytest
from typer.testing import CliRunner

from privact.cli.main import app
from privact.device.page.publish import DIGESTS, page_files, write_page
from privact.device.page.verify import compare_page
from privact.errors import AggregatorError

URL = "https://clusters.example/join"


def serving(change: Callable[[str, httpx.Response], httpx.Response] = lambda name, same: same) -> httpx.MockTransport:
    """A server with the page below /join/, which may change what it sends."""
    contents = page_files()

    def answer(request: httpx.Request) -> httpx.Response:
        name = request.url.path.removeprefix("/join/")
        found = contents.get(name or "index.html")
        return change(name, httpx.Response(404) if found is None else httpx.Response(200, content=found))

    return httpx.MockTransport(answer)


def test_the_page_is_written_with_digests_that_hold(tmp_path) -> None:
    folder = tmp_path / "page"
    write_page(folder)
    lines = (folder / DIGESTS).read_text().splitlines()
    assert {line.split("  ")[1] for line in lines} == set(page_files())
    for line in lines:
        digest, name = line.split("  ")
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    write_page(folder)  # again changes nothing
    assert (folder / DIGESTS).read_text().splitlines() == lines


def test_every_module_that_the_page_loads_is_kept_for_the_time_without_a_network() -> None:
    contents = page_files()
    listed = set(re.findall(rb'"([\w./-]+)"', contents["worker.js"].split(b"const FILES")[1].split(b"];")[0]))
    loaded = {name.encode() for name in contents if not name.endswith(".txt") and name != "worker.js"}
    assert listed == loaded | {b"./"}


def test_the_page_names_no_other_host() -> None:
    for name, content in page_files().items():
        if not name.startswith("vendor/"):
            hosts = set(re.findall(rb"https?://([\w.:*-]+)", content))
            assert hosts <= {b"clusters.example", b"127.0.0.1:*", b"localhost:*", b"www.w3.org"}, name


def test_vendored_code_comes_with_its_licence() -> None:
    contents = page_files()
    for folder in {name.split("/")[1] for name in contents if name.startswith("vendor/") and name.count("/") > 1}:
        assert len(contents[f"vendor/{folder}/LICENSE.txt"]) > 500
        assert folder.encode() in contents["vendor/README.txt"]


def test_a_page_that_is_served_unchanged_is_the_released_one() -> None:
    n_compared, different = compare_page(URL, transport=serving())
    assert n_compared == len(page_files()) + 1
    assert different == []


@pytest.mark.parametrize("name", ["", "core/noise.js", "worker.js", "vendor/unicode/case_folding.js"])
def test_one_changed_byte_is_found(name) -> None:
    def change(asked: str, response: httpx.Response) -> httpx.Response:
        return httpx.Response(200, content=response.content + b" ") if asked == name else response

    found = compare_page(URL, transport=serving(change))[1]
    assert [each.name for each in found] == [name or "./"]
    assert "released was" in found[0].problem


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (httpx.Response(302, headers={"Location": "https://evil.example"}), "status 302"),
        (httpx.Response(200, headers={"Refresh": "0; url=https://evil.example"}), "header refresh"),
        (httpx.Response(200, content=bytes(2**21)), "longer than"),
    ],
)
def test_what_could_lead_elsewhere_is_found(answer, problem) -> None:
    found = compare_page(URL, transport=serving(lambda name, same: answer if name == "page.css" else same))[1]
    assert [each.name for each in found] == ["page.css"]
    assert problem in found[0].problem


def test_a_server_that_is_not_there_is_said() -> None:
    def gone(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("no route")

    with pytest.raises(AggregatorError, match=r"cannot reach https://clusters.example/join/: no route"):
        compare_page(URL, transport=httpx.MockTransport(gone))


def test_the_command_wants_one_of_its_two_options(tmp_path) -> None:
    run = CliRunner().invoke
    assert run(app, ["device", "page"]).exit_code != 0
    assert run(app, ["device", "page", "-o", str(tmp_path), "--verify", URL]).exit_code != 0
    made = run(app, ["device", "page", "-o", str(tmp_path / "page")])
    assert made.exit_code == 0
    assert "digests in SHA256SUMS" in made.output
