"""The device for a browser is handed out unchanged, and pages of other sites may call what a device needs and nothing else."""

from __future__ import annotations

import io

import pytest
import segno

from privact.device.page.publish import page_files
from privact.device.page.verify import compare_page

ELSEWHERE = {"Origin": "https://page.example"}


def preflight(service, path, method):
    headers = ELSEWHERE | {"Access-Control-Request-Method": method, "Access-Control-Request-Headers": "authorization"}
    return service.client.options(path, headers=headers)


def test_the_page_is_the_released_one(service):
    assert compare_page(f"{service.url}/join") == (len(page_files()) + 1, [])


def test_an_invitation_leads_to_the_page(service):
    response = service.client.get("/join")
    assert (response.status_code, response.headers["Location"]) == (308, "join/")
    assert response.headers["Cache-Control"] == "public, max-age=31536000", "links open the page without a network too"
    page = service.client.get("/join/")
    assert page.headers["Content-Type"].startswith("text/html")
    assert "connect-src 'self';" in page.headers["Content-Security-Policy"]
    assert service.client.get("/join/", headers={"If-None-Match": page.headers["ETag"]}).status_code == 304


def test_the_address_of_the_page_is_drawn_as_a_code(service):
    drawn = service.client.get("/join-code.svg", headers={"Host": "clusters.example:8443"})
    assert drawn.headers["Content-Type"] == "image/svg+xml"
    wanted = io.BytesIO()
    segno.make("http://clusters.example:8443/join/", error="m").save(
        wanted, kind="svg", scale=4, light="#fff", xmldecl=False, title="QR code"
    )
    assert drawn.content == wanted.getvalue()


@pytest.mark.parametrize("host", ["a" * 5000, "a.example/b", "a b"])
def test_what_is_no_host_is_not_drawn(service, host):
    assert service.client.get("/join-code.svg", headers={"Host": host}).status_code == 400


@pytest.mark.parametrize("name", ["nothing.js", "../publish.py", "..%2f__init__.py", "core", "core/", "//etc/passwd", "%00"])
def test_nothing_else_can_be_fetched_below_it(service, name):
    assert service.client.get(f"/join/{name}").status_code == 404


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/v1/me", "GET"),
        ("/v1/rounds/spring/parameters", "GET"),
        ("/v1/rounds/spring/labels", "GET"),
        ("/v1/rounds/spring/labels/names", "GET"),
        ("/v1/rounds/spring/tree/community", "GET"),
        ("/v1/rounds/spring/recommendations", "GET"),
        ("/v1/rounds/spring/people", "GET"),
        ("/v1/rounds/spring/report", "GET, PUT"),
    ],
)
def test_a_device_on_another_site_may_ask_and_send(service, path, methods):
    asked = preflight(service, path, "GET")
    assert asked.status_code == 204
    assert asked.headers["Access-Control-Allow-Origin"] == "*"
    assert asked.headers["Access-Control-Allow-Methods"] == methods
    assert "Access-Control-Allow-Credentials" not in asked.headers
    assert service.client.get(path, headers=ELSEWHERE).headers["Access-Control-Allow-Origin"] == "*"
    if "PUT" in methods:
        assert service.client.put(path, content=b"x", headers=ELSEWHERE).headers["Access-Control-Allow-Origin"] == "*"


@pytest.mark.parametrize(
    ("path", "method"),
    [
        ("/v1/users", "POST"), ("/v1/users", "GET"), ("/v1/rounds", "POST"), ("/v1/rounds", "GET"), ("/v1/rounds/spring", "GET"),
        ("/v1/rounds/spring/tree", "GET"), ("/v1/rounds/spring/tree/nearest", "GET"),
        ("/v1/rounds/spring/open", "POST"), ("/v1/rounds/spring/close", "POST"), ("/v1/users/token", "POST"), ("/metrics", "GET"),
        ("/v1/rounds/a/b/report", "PUT"), ("/", "GET"), ("/operator", "GET"), ("/join/", "GET"),
    ],
)  # fmt: skip
def test_nothing_else_is_open_to_other_sites(service, path, method):
    for response in (preflight(service, path, method), service.client.request(method, path, headers=ELSEWHERE)):
        assert not [name for name in response.headers if name.lower().startswith("access-control")]


def test_labels_cannot_be_put_from_another_site(service):
    assert preflight(service, "/v1/rounds/spring/labels", "PUT").headers["Access-Control-Allow-Methods"] == "GET"
    put = service.client.put("/v1/rounds/spring/labels", content=b"x", headers=ELSEWHERE)
    assert "Access-Control-Allow-Origin" not in put.headers
