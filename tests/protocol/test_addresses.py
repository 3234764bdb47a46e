"""Addresses of aggregators: one spelling, one budget, and no token in the clear."""

from __future__ import annotations

import pytest

from privact.errors import InputError
from privact.protocol.addresses import aggregator_address


@pytest.mark.parametrize(
    ("spelled", "url"),
    [
        ("https://clusters.example", "https://clusters.example"),
        ("HTTPS://Clusters.Example:443/", "https://clusters.example"),
        ("clusters.example", "https://clusters.example"),
        (" https://clusters.example./privact// ", "https://clusters.example/privact"),
        ("https://clusters.example:8443", "https://clusters.example:8443"),
        ("http://127.0.0.1:8420", "http://127.0.0.1:8420"),
        ("http://localhost:80/", "http://localhost"),
        ("http://[::1]:8420", "http://[::1]:8420"),
        ("https://bücher.example", "https://xn--bcher-kva.example"),
    ],
)
def test_spellings_of_one_address_are_one(spelled, url):
    assert aggregator_address(spelled).url == url


def test_one_host_is_one_aggregator_whatever_the_scheme():
    plain = aggregator_address("http://clusters.example", allow_plain_http=True)
    secure = aggregator_address("https://Clusters.example/")
    assert plain.key == secure.key == "clusters.example"
    assert plain.folder_name == secure.folder_name


def test_different_aggregators_have_different_folders_that_are_names_on_every_system():
    urls = [
        "https://a.example",
        "https://a.example/x",
        "https://a.example:81",
        "https://a-example",
        "http://[::1]:1",
        "https://b",
    ]
    names = {aggregator_address(url).folder_name for url in urls}
    assert len(names) == len(urls)
    assert all(name.replace("-", "").replace(".", "").isalnum() for name in names)


@pytest.mark.parametrize(("host", "loopback"), [("127.0.0.1", True), ("127.9.9.9", True), ("[::1]", True), ("localhost", True)])
def test_this_machine_may_be_reached_in_the_clear(host, loopback):
    assert aggregator_address(f"http://{host}:1").loopback is loopback


@pytest.mark.parametrize("host", ["clusters.example", "192.168.0.7", "localhost.example", "[2001:db8::1]"])
def test_another_machine_is_not_reached_in_the_clear_unless_told(host):
    with pytest.raises(InputError, match=r"plain http to another machine"):
        aggregator_address(f"http://{host}")
    assert not aggregator_address(f"http://{host}", allow_plain_http=True).loopback
    assert not aggregator_address(f"https://{host}").loopback


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("", "names no host"),
        ("https://", "names no host"),
        ("https://two words.example", "names no host"),
        ("https://exa_mple.-", "names no host"),
        ("ftp://clusters.example", "begins with ftp://"),
        ("https://clusters.example:port", "is not an address"),
        ("https://[::1", "is not an address"),
        ("https://ada:secret@clusters.example", "has no user"),
        ("https://clusters.example/?token=secret", "no user, question mark"),
        ("https://clusters.example/#x", "hash sign"),
    ],
)
def test_what_is_no_address_is_refused_in_one_line_without_secrets(url, message):
    with pytest.raises(InputError, match=message) as refused:
        aggregator_address(url)
    assert "\n" not in str(refused.value)
    assert "secret" not in str(refused.value)
