"""What goes wrong on a page is said beside the form it belongs to, and stays there until it is dismissed."""

from __future__ import annotations

import httpx
import pytest
from playwright.sync_api import expect


def at_desk(open_page, played, tab):
    page = open_page(f"{played.url}/operator#{tab}")
    page.fill("#token", played.aggregator.operator_token)
    page.click("#login button")
    page.wait_for_selector("#desk:not([hidden])")
    return page


def wait_for_polls(page, path):
    """Until the page has asked twice more what is new: nothing that it does by itself may take an error away."""
    for _ in range(2):
        page.wait_for_event("response", lambda response: response.url.endswith(path))
    page.wait_for_timeout(100)


def stays_until_dismissed(page, form, text, path="/v1/rounds"):
    problem = page.locator(f"{form} .problem")
    expect(problem).to_contain_text(text)
    if path:
        wait_for_polls(page, path)
    expect(problem).to_be_visible()
    problem.get_by_role("button", name="Dismiss").click()
    expect(problem).to_be_hidden()


def test_what_the_browser_refuses_is_said_in_the_form_and_not_in_a_bubble(open_page, played):
    page = at_desk(open_page, played, "rounds")
    page.fill("#new-id", "no spaces!")
    page.click("#new-round button[type=submit]")
    stays_until_dismissed(page, "#new-round", "Name: Letters, digits, dots, dashes and underscores")
    page.fill("#series-name", "tides")
    page.fill("#series-rounds", "1")
    page.click("#new-series button[type=submit]")
    stays_until_dismissed(page, "#new-series", "Rounds (empty: chosen for you): ")


def test_a_wrong_value_that_is_folded_away_is_shown(open_page, played):
    page = at_desk(open_page, played, "rounds")
    more = page.locator("#new-round details")
    page.fill("#new-id", "folded")
    more.locator("summary").click()
    page.fill("#new-joiners", "-3")
    more.locator("summary").click()
    page.click("#new-round button[type=submit]")
    expect(page.locator("#new-joiners")).to_be_focused()
    stays_until_dismissed(page, "#new-round", "later users may still join: ")


def test_fields_of_another_kind_of_bins_are_not_asked_for(open_page, played):
    page = at_desk(open_page, played, "rounds")
    page.fill("#new-id", "kinds")
    page.fill("#new-bins", "0")
    page.select_option("#new-kind", "labels")
    page.click("#new-round button[type=submit]")
    expect(page.locator("#new-round .problem")).to_contain_text("Lines user,label: ")  # not the number of bins, which is hidden


@pytest.mark.parametrize(
    ("tab", "form", "fill", "text"),
    [
        ("users", "#enrol", {}, "No id was given"),
        ("users", "#enrol", {"#enrol-ids": "x" * 2000}, "has 2000 characters"),
        ("users", "#invite", {}, "one id a line: "),
        ("users", "#invite", {"#invite-ids": "nobody@nowhere.example"}, "nobody@nowhere.example"),
        ("ratings", "#upload", {}, "File: "),
        ("rounds", "#new-round", {"#new-id": "cheap", "#new-epsilon": "0.0001"}, "Epsilon per contact: "),
        ("rounds", "#new-series", {"#series-name": "dear", "#series-epsilon": ""}, "over all rounds: "),
    ],
)
def test_every_form_of_the_desk_keeps_its_error(open_page, played, tab, form, fill, text):
    page = at_desk(open_page, played, tab)
    for field, value in fill.items():
        page.fill(field, value)
    page.click(f"{form} button[type=submit]")
    stays_until_dismissed(page, form, text)


def test_ratings_that_cannot_be_read_are_said_beside_the_upload(open_page, played):
    page = at_desk(open_page, played, "ratings")
    page.set_input_files("#upload-file", {"name": "ratings.csv", "mimeType": "text/csv", "buffer": b"<html>\n"})
    page.click("#upload button[type=submit]")
    stays_until_dismissed(page, "#upload", "has one column")


def test_a_search_that_fails_is_said_beside_it(open_page, played):
    page = at_desk(open_page, played, "users")
    page.wait_for_selector("#users-list tr")
    page.route("**/v1/users?*search=who*", lambda route: route.fulfill(status=503, json={"error": "too much to do"}))
    page.fill("#search-text", "who")
    stays_until_dismissed(page, "#search", "too much to do")


def test_the_forms_of_the_explorer_keep_their_errors(open_page, played):
    page = open_page(played.url + "/rounds/spring/tree")
    page.wait_for_selector(".tile")
    page.fill("#cut-k", "5000")
    page.click("#cut button")
    page.fill("#compare-a", played.users[0])
    page.fill("#compare-b", "nobody@nowhere.example")
    page.click("#compare button")
    stays_until_dismissed(page, "#compare", "nobody@nowhere.example", path="")
    stays_until_dismissed(page, "#cut", "How many: Value must be less than or equal to 401", path="")
    assert page.locator("#trouble").is_hidden()


@pytest.mark.parametrize(
    ("path", "kind"), [("/rounds/nope", "round"), ("/rounds/nope/tree", "round"), ("/series/nope", "series")]
)
def test_a_round_that_does_not_exist_is_said_and_not_asked_for_again(open_page, played, path, kind):
    page = open_page(played.url)
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "/v1/" in request.url else None)
    page.goto(played.url + path)
    expect(page.locator("#trouble")).to_contain_text(f"There is no {kind} named nope")
    before = len(asked)
    page.wait_for_timeout(4500)  # two polls
    assert len(asked) == before
    assert not page.locator("#panels, #explorer").is_visible()


@pytest.mark.parametrize("path", ["/nothing", "/static/nothing.js", "/join/nothing", "/v1/nothing", "/v1/rounds/nothing", "/me/"])
def test_an_unknown_address_is_a_page_for_people_and_json_for_programs(played, path):
    page = httpx.get(played.url + path, headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert (page.status_code, page.headers["Content-Type"]) == (404, "text/html; charset=utf-8")
    assert "Nothing is at this address" in page.text
    answer = httpx.get(played.url + path)
    assert (answer.status_code, answer.headers["Content-Type"]) == (404, "application/json")


def test_a_choice_that_the_server_refuses_is_taken_back(open_page, played):
    page = open_page(played.url + "/me")
    page.fill("#token", played.tokens[played.users[7]])
    page.click("#login button")
    page.wait_for_selector("#desk:not([hidden])")
    expect(page.locator("#discoverable")).to_be_checked()
    page.route("**/v1/me/discoverable", lambda route: route.fulfill(status=503, json={"error": "too much to do"}))
    page.click("#discoverable")
    expect(page.locator("form:has(#discoverable) .problem")).to_contain_text("too much to do")
    expect(page.locator("#discoverable")).to_be_checked()
