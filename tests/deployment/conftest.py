"""A certificate authority, an aggregator, and each proxy of Debian in front of it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from deployment.proxies import HOST, Authority, Proxy, find_program, run_proxy
from privact.simulate.local_aggregator import LocalAggregator, run_aggregator


@pytest.fixture(scope="session")
def authority(tmp_path_factory) -> Authority:
    folder = tmp_path_factory.mktemp("authority")
    openssl = [find_program("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    root, root_key = folder / "root.pem", folder / "root.key"
    certificate, key = folder / "fullchain.pem", folder / "privkey.pem"
    made = [*openssl, "-days", "30", "-subj", "/CN=Test authority", "-keyout", root_key, "-out", root]
    given = [
        *openssl, "-days", "30", "-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}",
        "-addext", "basicConstraints=critical,CA:FALSE", "-addext", "extendedKeyUsage=serverAuth",
        "-CA", root, "-CAkey", root_key, "-keyout", key, "-out", certificate,
    ]  # fmt: skip
    for command in (made, given):
        subprocess.run(command, check=True, capture_output=True)
    return Authority(root, certificate, key)


@pytest.fixture(scope="session")
def aggregator() -> Iterator[LocalAggregator]:
    with run_aggregator() as running:
        yield running


@pytest.fixture(scope="session", params=["nginx", "caddy"])
def proxy(request, aggregator, authority, tmp_path_factory) -> Iterator[Proxy]:
    """A proxy of Debian in front of an aggregator."""
    port = int(aggregator.url.rpartition(":")[2])
    with run_proxy(request.param, port, authority, tmp_path_factory.mktemp(request.param)) as running:
        yield running


@pytest.fixture
def echo_port() -> Iterator[int]:
    """A server that sends back the headers that reached it."""

    class Echo(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = "".join(f"{name.lower()}: {value}\n" for name, value in self.headers.items()).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Echo) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()
