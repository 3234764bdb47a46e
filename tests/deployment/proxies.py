"""The proxies of deploy/ as Debian packages them, in front of something, with a certificate of a test authority."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

DEPLOY = Path(__file__).parents[2] / "deploy"
HOST = "privact.example"


def find_program(name: str) -> str:
    """The path of a program of a Debian package; the test is skipped without it, or fails where CI requires it."""
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")
    if found is None:
        if os.environ.get("PRIVACT_REQUIRE_DEPLOYMENT"):
            pytest.fail(f"{name} is not installed")
        pytest.skip(f"{name} is not installed")
    return found


@dataclass(frozen=True)
class Authority:
    """A certificate authority and the certificate that it gave to privact.example."""

    root: Path
    certificate: Path
    key: Path


@dataclass(frozen=True)
class Proxy:
    """A proxy that runs: its ports with and without TLS."""

    name: str
    tls: int
    plain: int
    root: Path

    def ask(self, path: str, *options: str, tls: bool = True) -> tuple[int, dict[str, str], str]:
        """What curl is told: status, headers with names in lower case, body. The certificate must be the authority's."""
        port, scheme = (self.tls, "https") if tls else (self.plain, "http")
        command = ["curl", "-sS", "-i", "--max-time", "20", "--cacert", self.root, "--resolve", f"{HOST}:{port}:127.0.0.1"]
        done = subprocess.run([*command, *options, f"{scheme}://{HOST}:{port}{path}"], capture_output=True, check=True)
        head, _, body = done.stdout.decode().partition("\r\n\r\n")
        if head.startswith("HTTP/1.1 100"):
            head, _, body = body.partition("\r\n\r\n")
        first, *lines = head.split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        return int(first.split()[1]), headers, body


@contextmanager
def run_proxy(
    name: str, upstream: int, authority: Authority, folder: Path, others: Sequence[int] = (), limited: bool = True
) -> Iterator[Proxy]:
    """The proxy with its file of deploy/; only ports and the place of the certificate are changed.

    upstream: port of the server. others: of nginx, ports of further servers. limited: whether nginx limits requests.
    """
    tls, plain = _free_port(), _free_port()
    run = {"nginx": _write_nginx, "caddy": _write_caddy}[name]
    command = run(folder, upstream, tls, plain, authority)
    if others or not limited:
        _change_site(folder / "site.conf", upstream, others, limited)
    with (folder / "log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log, env=_home(folder)) as process:
        try:
            _wait_for(tls, process, folder / "log")
            yield Proxy(name, tls, plain, authority.root)
        finally:
            process.terminate()
            process.wait(20)


def _write_nginx(folder: Path, upstream: int, tls: int, plain: int, authority: Authority) -> list[str]:
    program = find_program("nginx")
    site = (DEPLOY / "nginx.conf").read_text()
    for before, after in (
        ("listen 443 ", f"listen 127.0.0.1:{tls} "),
        ("listen 80;", f"listen 127.0.0.1:{plain};"),
        ("127.0.0.1:8420", f"127.0.0.1:{upstream}"),
        (f"/etc/letsencrypt/live/{HOST}", str(authority.root.parent)),
    ):
        assert before in site, before
        site = site.replace(before, after)
    (folder / "site.conf").write_text(site)
    temporary = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (folder / "nginx.conf").write_text(
        f"pid {folder}/pid;\ndaemon off;\nerror_log stderr;\nevents {{}}\nhttp {{\n{temporary}include {folder}/site.conf;\n}}\n"
    )
    command = [program, "-e", "stderr", "-p", str(folder), "-c", str(folder / "nginx.conf")]
    checked = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    assert "[warn]" not in checked.stderr.replace('[warn] the "user" directive', "")
    return command


def _change_site(path: Path, upstream: int, others: Sequence[int], limited: bool) -> None:
    """Add a line for each further server, as operators do, and take limits out, which no test of many users could pass."""
    line = f"    server 127.0.0.1:{upstream};"
    site = path.read_text()
    assert line in site
    site = site.replace(line, "\n".join([line, *(f"    server 127.0.0.1:{port};" for port in others)]))
    lines = [
        each for each in site.splitlines() if limited or not each.strip().startswith(("limit_req zone", "limit_conn privact"))
    ]
    path.write_text("\n".join(lines) + "\n")


def _write_caddy(folder: Path, upstream: int, tls: int, plain: int, authority: Authority) -> list[str]:
    program = find_program("caddy")
    site = (DEPLOY / "Caddyfile").read_text()
    certificate = f"\ttls {authority.certificate} {authority.key}\n"
    for before, after in (
        ("{\n\tservers {", f"{{\n\tadmin off\n\thttp_port {plain}\n\thttps_port {tls}\n\tservers {{"),
        (f"{HOST} {{\n", f"{HOST}:{tls} {{\n{certificate}"),
        ("reverse_proxy 127.0.0.1:8420 {", f"reverse_proxy 127.0.0.1:{upstream} {{"),
    ):
        assert site.count(before) == 1, before
        site = site.replace(before, after)
    path = folder / "Caddyfile"
    path.write_text(site)
    return [program, "run", "--adapter", "caddyfile", "--config", str(path)]


def _home(folder: Path) -> dict[str, str]:
    return os.environ | {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    """Until something listens; a proxy that ends instead fails the test with what it said."""
    while True:
        assert process.poll() is None, log.read_text()
        with socket.socket() as attempt:
            if attempt.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
