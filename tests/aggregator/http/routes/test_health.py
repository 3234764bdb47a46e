"""Health, metrics, the description of the API, and what every answer has in common."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import text

from privact import __version__


def test_alive_and_ready(service):
    assert service.ask("GET", "/healthz").json() == {"status": "ok"}
    assert service.ask("GET", "/readyz").json() == {"status": "ok"}
    assert service.ask("GET", "/v1").json() == {
        "name": "privact",
        "version": __version__,
        "protocol_version": 1,
        "minimum_users": 3,
        "accepts": {"report": "application/octet-stream", "labels": "text/csv"},
    }


def test_not_ready_with_tables_of_another_version(service):
    with service.app.state.services.store.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    answer = service.ask("GET", "/readyz")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "60")
    assert service.ask("GET", "/healthz").status_code == 200


def test_a_database_that_fails_is_503_everywhere_and_never_500(service):
    tokens = service.enrol("ada", "bob", "cat")
    spring = service.open_round()
    with service.app.state.services.store.write() as connection:
        for table in ("reports", "releases", "label_tables", "rounds", "users", "operators"):
            connection.execute(text(f"ALTER TABLE {table} RENAME TO gone_{table}"))
    service.app.state.services.gate.forget(b"")
    for method, path in [("GET", "/v1/rounds"), ("GET", "/v1/rounds/autumn/parameters"), ("GET", "/metrics"), ("GET", "/v1/me")]:
        answer = service.ask(method, path, tokens["ada"])
        assert (answer.status_code, list(answer.json())) == (503, ["error"]), path
        assert answer.headers["retry-after"] == "1"
    assert service.send(spring, "ada", tokens["ada"]).status_code == 503


def test_metrics_count_requests_by_route_and_never_by_user(service):
    token = service.enrol("ada", "bob", "cat")["ada"]
    spring = service.open_round()
    service.send(spring, "ada", token)
    service.send(spring, "ada", token)
    service.ask("DELETE", "/v1/users/bob", "operator." + "o" * 43)
    service.ask("PROPFIND", "/nowhere")
    answer = service.ask("GET", "/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert 'privact_reports_total{outcome="accepted"} 1.0' in answer.text
    assert 'privact_reports_total{outcome="again"} 1.0' in answer.text
    assert 'privact_request_seconds_count{method="PUT",route="/v1/rounds/{round_id}/report",status="201"} 1.0' in answer.text
    assert 'privact_request_seconds_count{method="DELETE",route="/v1/users/{user:path}",status="204"} 1.0' in answer.text
    assert 'privact_request_seconds_count{method="other",route="none",status="404"} 1.0' in answer.text
    assert "privact_report_queue 0.0" in answer.text
    assert "process_resident_memory_bytes" in answer.text
    assert "bob" not in answer.text


def test_every_answer_is_safe_for_browsers_and_private_ones_are_not_stored(service):
    for answer in (
        service.ask("GET", "/healthz"),
        service.ask("GET", "/v1/me"),
        service.ask("GET", "/nowhere"),
        service.ask("PUT", "/v1/rounds/x/report", content=b""),
        service.ask("GET", "/v1/users?limit=x", "operator." + "o" * 43),
    ):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
        assert answer.headers["cache-control"] == "no-store"


def test_head_is_get_without_the_body(service):
    for path in ("/healthz", "/v1/rounds", "/v1/me", "/metrics", "/openapi.json"):
        head, get = service.ask("HEAD", path), service.ask("GET", path)
        assert (head.status_code, head.content) == (get.status_code, b"")
        assert head.headers["content-type"] == get.headers["content-type"]
    assert service.ask("HEAD", "/healthz").headers["content-length"] == "15"


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/healthz", "GET, HEAD, OPTIONS"),
        ("/v1/users", "GET, HEAD, POST, OPTIONS"),
        ("/v1/rounds/spring/report", "GET, HEAD, PUT, OPTIONS"),
        ("/v1/rounds/spring/labels", "GET, HEAD, PUT, OPTIONS"),
        ("/v1/rounds/spring/close", "POST, OPTIONS"),
    ],
)
def test_an_address_says_which_methods_it_takes(shared_service, path, methods):
    options = shared_service.ask("OPTIONS", path)
    assert (options.status_code, options.headers["allow"], options.content) == (204, methods, b"")
    wrong = shared_service.ask("PATCH", path)
    assert (wrong.status_code, wrong.headers["allow"], wrong.json()) == (
        405,
        methods,
        {"error": "this address does not take PATCH"},
    )


@pytest.mark.parametrize("path", ["/v2", "/v1/", "/v1/rounds/", "/docs", "/redoc", "/v1/rounds/spring/nothing", "/%00", "/%ff"])
def test_an_unknown_address_is_404_in_the_same_shape(shared_service, path):
    answer = shared_service.ask("GET", path)
    assert (answer.status_code, list(answer.json())) == (404, ["error"])


def test_the_api_describes_itself_completely(service):
    document = service.ask("GET", "/openapi.json").json()
    assert set(document["components"]["securitySchemes"]) == {"user", "operator", "invitation"}
    assert "HTTPValidationError" not in document["components"]["schemas"]
    operations = {
        (method, path): operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if set(operation["tags"]) & {"service", "users", "rounds", "reports", "trees"}
    }
    assert {("put", "/v1/rounds/{round_id}/report"), ("post", "/v1/users"), ("delete", "/v1/users/{user}")} <= set(operations)
    for where, operation in operations.items():
        assert operation["summary"], where
        assert operation["description"], where
        for status, answer in operation["responses"].items():
            assert answer["description"], (where, status)
            assert status != "422", where
            if status in ("204", "304"):  # without a body
                continue
            ((kind, content),) = list(answer["content"].items())[:1]
            if kind == "application/json":
                named = content["schema"]["$ref"].rsplit("/", 1)[1]
                assert "example" in content or "example" in document["components"]["schemas"][named], (where, status)
            if int(status) >= 400:
                assert kind == "application/json"
                assert content["schema"] == {"$ref": "#/components/schemas/ErrorResponse"}
                assert list(content["example"]) == ["error"]
        guarded = operation.get("security", [])
        assert (
            ("401" in operation["responses"]) == (bool(guarded) and {} not in guarded)
            or where[1].endswith(("/labels", "/labels/names"))
            or "/tree" in where[1]
        ), where


def test_what_is_said_about_each_route_holds_no_host_but_ours(service):
    assert re.findall(r"https?://", service.ask("GET", "/openapi.json").text) == []


def test_an_unknown_address_gives_a_page_to_a_browser_and_a_line_to_programs(service):
    page = service.client.get("/nothing", headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "Nothing is at this address" in page.text
    assert service.ask("GET", "/nothing").json() == {"error": "nothing is at this address"}
