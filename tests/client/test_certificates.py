"""What a device says about a bad certificate, with real TLS on loopback."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from privact.client.device_client import DeviceClient
from privact.errors import AggregatorError
from privact.protocol.addresses import aggregator_address

TLS = Path(__file__).parent / "tls"
TOKEN = "0" * 32 + "." + "x" * 43


@pytest.fixture
def serve() -> Iterator[Callable[..., int]]:
    """Starts servers with a certificate, or without TLS; each answers 500 and ends with the test. Gives the port."""
    listeners = []

    def start(certificate: str | None) -> int:
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        if certificate is not None:
            context.load_cert_chain(TLS / certificate)

        def respond() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                    with context.wrap_socket(connection, server_side=True) if certificate else connection as stream:
                        stream.recv(65536)
                        stream.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
                except ssl.SSLError:
                    continue  # the device hung up
                except OSError:
                    return  # the listener was closed

        threading.Thread(target=respond, daemon=True).start()
        return int(listener.getsockname()[1])

    yield start
    for listener in listeners:
        listener.close()


def ask(port: int, *, trusts: bool = True) -> str:
    """What a device says to a server; `trusts`: whether its machine knows the authority of these tests."""
    context = ssl.create_default_context(cafile=TLS / "ca.pem" if trusts else None)
    slept: list[float] = []
    address = aggregator_address(f"https://localhost:{port}")
    device = DeviceClient(address, TOKEN, transport=httpx.HTTPTransport(verify=context), sleep=slept.append)
    with device as aggregator, pytest.raises(AggregatorError) as refused:
        aggregator.me()
    assert slept == []  # trying again would not help
    return str(refused.value)


def test_a_right_certificate_is_trusted(serve) -> None:
    assert "status 404" in ask(serve("right.pem"))


@pytest.mark.parametrize(
    ("certificate", "trusts", "reason"),
    [
        ("expired.pem", True, "its certificate has expired"),
        ("elsewhere.pem", True, "its certificate is for another host"),
        ("right.pem", False, "comes from an authority that this machine does not know"),
        (None, True, "does not speak TLS as it should"),
    ],
)
def test_a_bad_certificate_is_named(serve, certificate, trusts, reason) -> None:
    said = ask(serve(certificate), trusts=trusts)
    assert said.startswith("https://localhost:")
    assert " is not to be trusted: " in said
    assert reason in said
