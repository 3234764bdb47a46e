"""Series through HTTP: who may see and make them; what happens between rounds is in tests/promises."""

from __future__ import annotations

from typing import Any

WISH = {"name": "autumn", "epsilon": 4.0, "rounds": 4, "every_seconds": 100}


def test_a_series_is_made_opened_seen_and_stopped(service: Any, operator_token: str) -> None:
    tokens = service.enrol("ada", "bob", "cleo")
    made = service.ask("POST", "/v1/series", json=WISH)
    assert made.status_code == 401
    made = service.operate("POST", "/v1/series", json=WISH)
    assert (made["state"], made["epsilon_per_round"], made["asked"]) == ("draft", 1.0, 0.0)
    assert service.ask("GET", "/v1/series/autumn").status_code == 404
    assert service.ask("GET", "/v1/series").json() == {"series": []}
    service.operate("POST", "/v1/series/autumn/open")
    seen = service.ask("GET", "/v1/series/autumn").json()
    assert (seen["state"], seen["asked"], seen["evidence"], seen["release"]) == ("running", 1.0, None, None)
    assert "the 4 rounds of series autumn" in seen["privacy"]
    place = {"name": "autumn", "number": 1, "rounds": 4, "epsilon": 4.0}
    assert service.ask("GET", "/v1/rounds/autumn.1").json()["series"] == place
    assert service.ask("GET", "/v1/me", tokens["ada"]).json()["rounds"][0]["series"] == place
    refused = service.ask("POST", "/v1/series/autumn/stop", operator_token)
    assert (refused.status_code, "0 reports, and" in refused.json()["error"]) == (409, True)  # epsilon would be lost
    stopped = service.operate("POST", "/v1/series/autumn/stop?force=true")
    assert stopped["stopped_at"] is not None
    assert stopped["members"][0]["state"] in ("closed", "failed")
    assert service.ask("GET", "/v1/series/nothing").json() == {"error": "no series 'nothing'"}


def test_a_series_that_cannot_be_is_refused_in_one_line(service: Any, operator_token: str) -> None:
    for changes, complaint in (
        ({"rounds": 1}, "rounds"),
        ({"epsilon": 0}, "epsilon"),
        ({"rounds": 100, "epsilon": 0.5}, "fewer rounds"),
    ):
        said = service.ask("POST", "/v1/series", operator_token, json=WISH | changes)
        assert said.status_code == 400
        assert complaint in said.json()["error"]


def test_the_number_of_rounds_follows_epsilon_unless_it_is_given(service: Any) -> None:
    for name, epsilon, rounds in (("small", 2.0, 4), ("large", 4.0, 5)):
        made = service.operate("POST", "/v1/series", json={"name": name, "epsilon": epsilon})
        assert (made["rounds"], made["epsilon_per_round"]) == (rounds, epsilon / rounds)


def test_a_round_of_its_own_has_no_series(service: Any) -> None:
    service.enrol("ada", "bob", "cleo")
    service.open_round()
    found = service.ask("GET", "/v1/rounds/spring").json()
    assert (found["series"], found["evidence"]) == (None, None)
