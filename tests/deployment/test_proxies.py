"""nginx and Caddy of Debian with the files of deploy/: TLS of a test authority, headers, limits, and a browser behind them."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from deployment.proxies import HOST, find_program, run_proxy


def test_pages_come_over_tls_with_the_headers_of_both(proxy):
    status, headers, body = proxy.ask("/", "--http2")
    assert (status, "<!doctype html>" in body) == (200, True)
    assert headers["strict-transport-security"] == "max-age=31536000"
    assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
    assert headers["x-content-type-options"] == "nosniff"


def test_http_2_is_spoken(proxy):
    done = ["curl", "-sS", "-o", os.devnull, "-w", "%{http_version}", "--cacert", proxy.root]
    address = f"https://{HOST}:{proxy.tls}/healthz"
    said = subprocess.run([*done, "--resolve", f"{HOST}:{proxy.tls}:127.0.0.1", address], capture_output=True, check=True)
    assert said.stdout == b"2"


def test_plain_http_is_sent_to_tls(proxy):
    status, headers, _ = proxy.ask("/rounds/spring", tls=False)
    assert status in (301, 308)
    assert headers["location"].startswith(f"https://{HOST}")
    assert headers["location"].endswith("/rounds/spring")


def test_metrics_stay_inside(proxy):
    assert proxy.ask("/metrics")[0] == 404
    assert proxy.ask("/healthz")[0] == 200


def test_tokens_and_reports_pass(proxy, aggregator):
    authorised = f"Authorization: Bearer {aggregator.operator_token}"
    enrolled = json.dumps({"users": [f"{proxy.name}@a.example"]})
    status, _, body = proxy.ask("/v1/users", "-H", authorised, "-H", "Content-Type: application/json", "-d", enrolled)
    assert status == 201
    token = json.loads(body)["tokens"][f"{proxy.name}@a.example"]
    status, _, body = proxy.ask("/v1/me", "-H", f"Authorization: Bearer {token}")
    assert (status, json.loads(body)["user"]) == (200, f"{proxy.name}@a.example")


def test_heads_and_bodies_are_bounded(proxy, aggregator, tmp_path):
    assert proxy.ask("/", "--http1.1", "-H", "X-Long: " + "x" * 60_000)[0] in (400, 431)
    too_long = tmp_path / "ratings.csv"
    with too_long.open("wb") as file:
        file.truncate(257 * 2**20)
    operator = f"Authorization: Bearer {aggregator.operator_token}"
    upload = ("--http1.1", "--expect100-timeout", "20", "-H", operator, "-T", str(too_long))
    assert proxy.ask("/v1/ratings", *upload)[0] == 413


def test_nginx_limits_what_costs_more_than_a_report(aggregator, authority, tmp_path):
    port = int(aggregator.url.rpartition(":")[2])
    with run_proxy("nginx", port, authority, tmp_path) as nginx:
        at_once = ["curl", "-sS", "-Z", "--parallel-max", "100", "--cacert", nginx.root, "-o", os.devnull, "-w", "%{http_code}\n"]
        at_once += ["--resolve", f"{HOST}:{nginx.tls}:127.0.0.1", f"https://{HOST}:{nginx.tls}/v1/rounds/nothing/tree?[1-300]"]
        statuses = subprocess.run(at_once, capture_output=True, check=True, text=True).stdout.split()
        assert set(statuses) == {"404", "429"}  # some are answered, and what is too much is told to wait
        assert nginx.ask("/healthz")[0] == 200


@pytest.mark.parametrize("name", ["nginx", "caddy"])
def test_the_address_of_a_client_cannot_be_made_up(name, authority, echo_port, tmp_path):
    with run_proxy(name, echo_port, authority, tmp_path) as running:
        _, _, body = running.ask("/", "-H", "X-Forwarded-For: 192.0.2.7")
    assert "x-forwarded-for: 127.0.0.1\n" in body
    assert "x-forwarded-proto: https\n" in body
    assert "192.0.2.7" not in body


def test_a_browser_trusts_the_certificate_and_works_behind_the_proxy(proxy, aggregator, chromium, tmp_path):
    from playwright.sync_api import sync_playwright

    database = tmp_path / ".pki" / "nssdb"
    database.mkdir(parents=True)
    certutil = [find_program("certutil"), "-d", f"sql:{database}"]
    subprocess.run([*certutil, "-N", "--empty-password"], check=True)
    subprocess.run([*certutil, "-A", "-t", "C,,", "-n", "test", "-i", proxy.root], check=True)
    options = {**chromium, "env": os.environ | {"HOME": str(tmp_path)}}
    flags = [flag for flag in chromium["args"] if not flag.startswith("--host-resolver-rules")]
    options["args"] = [*flags, f"--host-resolver-rules=MAP {HOST} 127.0.0.1"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**options)
        page = browser.new_page()
        response = page.goto(f"https://{HOST}:{proxy.tls}/operator")
        assert response.security_details()["issuer"] == "Test authority"
        assert page.evaluate("performance.getEntriesByType('navigation')[0].nextHopProtocol") == "h2"
        page.fill("#token", aggregator.operator_token)
        page.click("#login button")
        page.wait_for_selector("#desk:not([hidden])")
        browser.close()
