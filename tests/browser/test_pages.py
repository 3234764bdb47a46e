"""The aggregator's pages in a real browser: each is opened, used and looked at, as the people they are for would."""

from __future__ import annotations

import struct
import urllib.request

import pytest
from playwright.sync_api import expect

from privact.simulate.local_aggregator import run_aggregator

PHONE = {"viewport": {"width": 360, "height": 740}}


def logged_in(open_page, played, path="/operator", token=None):
    page = open_page(played.url + path)
    page.fill("#token", token or played.aggregator.operator_token)
    page.click("#login button")
    page.wait_for_selector("#desk:not([hidden])")
    return page


def test_rounds_are_listed_with_their_promise_and_progress(open_page, played, take_picture):
    page = open_page(played.url + "/")
    page.wait_for_selector(".card")
    assert page.locator(".card h2").all_inner_texts() == ["summer", "spring"]
    spring = page.locator(".card", has_text="spring").last.inner_text()
    assert "400 of 400 users" in spring
    assert "joined late" in spring
    assert "Per edge: in round spring" in spring
    assert page.locator("progress").get_attribute("value") == "200"
    take_picture(page, "rounds")
    page.click("text=Explore the tree")
    page.wait_for_selector(".tile")


def test_nothing_there_yet_is_said(open_page):
    with run_aggregator() as aggregator:
        page = open_page(aggregator.url + "/")
        page.wait_for_selector("#empty:not([hidden])")
        assert "No round has been opened yet" in page.inner_text("#empty")


def test_one_round_has_its_own_page(open_page, played):
    page = open_page(played.url + "/rounds/spring")
    page.wait_for_selector(".card")
    assert page.inner_text("h1") == "Round spring"
    with page.expect_download() as download:
        page.click("text=newick")
    assert download.value.suggested_filename == "spring.nwk" or download.value.suggested_filename.startswith("spring.")
    page.goto(played.url + "/rounds/nothing")
    page.wait_for_selector("#trouble:not([hidden])")
    assert "nothing" in page.inner_text("#trouble-text")


def test_the_tree_zooms_searches_slides_cuts_and_compares(open_page, played, take_picture):
    page = open_page(played.url + "/rounds/spring/tree")
    page.wait_for_selector(".tile")
    assert page.inner_text("h1") == "401 users of round spring"
    assert page.locator(".tile").count() > 20
    page.locator(".tile:not(.outermost):not(.pool):not(.narrow)").first.click()
    page.wait_for_selector("#way button")
    page.click("#way button")
    user = played.users[7]
    page.fill("#search-text", user[:-3])
    page.wait_for_selector("#search-results button")
    page.keyboard.press("Enter")
    expect(page.locator("#person-name")).to_have_text(user)
    before = page.inner_text("#granularity-text")
    page.focus("#granularity")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#granularity-text")).not_to_have_text(before)
    assert page.locator(".ring.chosen").count() == 1
    page.fill("#cut-k", "5")
    page.fill("#cut-least", "5")
    page.click("#cut button")
    page.wait_for_selector("#cut-clusters li")
    assert page.locator("#cut-clusters li").count() == 5
    page.fill("#compare-a", played.users[0])
    page.fill("#compare-b", played.users[1])
    page.click("#compare button")
    expect(page.locator("#compare-answer")).to_contain_text("smallest community")
    take_picture(page, "explorer")


def test_who_joined_late_is_marked(open_page, played):
    page = open_page(played.url + "/rounds/spring/tree")
    page.wait_for_selector(".tile")
    page.wait_for_selector("#late-note:not([hidden])")
    page.fill("#search-text", "late@")
    page.wait_for_selector("#search-results button")
    assert page.inner_text("#search-results button") == f"◦ {played.late}"


def test_an_operator_needs_the_right_token(open_page, played, take_picture):
    page = open_page(played.url + "/operator")
    page.fill("#token", "operator." + "x" * 43)
    page.click("#login button")
    expect(page.locator("#login-status")).to_have_text("This token is not right.")
    assert page.locator("#desk").is_hidden()
    page.fill("#token", played.aggregator.operator_token)
    page.click("#login button")
    page.wait_for_selector("#desk .card")
    take_picture(page, "operator")
    assert played.aggregator.operator_token not in page.content()
    page.reload()
    page.wait_for_selector("#desk .card")  # this tab stays logged in
    page.click("#logout")
    assert page.locator("#desk").is_hidden()
    page.reload()
    page.wait_for_selector("#login:not([hidden])")


def test_an_operator_runs_a_round_from_draft_to_closed(open_page, played):
    page = logged_in(open_page, played)
    page.fill("#enrol-ids", "new1@page.example\nnew2@page.example\n")
    page.click("#enrol button")
    page.wait_for_selector("#tokens:not([hidden])")
    assert page.inner_text("#enrol-status") == "2 enrolled."
    assert page.inner_text("#token-list").count("new") == 2
    page.fill("#new-id", "autumn")
    page.click("#new-round button")
    card = page.locator(".card", has_text="autumn")
    card.locator("text=Open").click()
    expect(card.locator(".state")).to_have_text("open")
    card.locator("text=Close and learn").click()
    expect(card.locator(".state")).to_have_text("failed", timeout=30_000)
    assert "100" in card.inner_text()  # nobody answered: fewer than the fewest users, never learned
    page.fill("#new-id", "autumn")
    page.click("#new-round button")
    page.wait_for_selector("#trouble:not([hidden])")
    assert "autumn" in page.inner_text("#trouble-text")


def test_a_user_sees_the_very_vector_that_was_sent(open_page, played, take_picture):
    user = played.users[3]
    page = logged_in(open_page, played, "/me", played.tokens[user])
    page.wait_for_selector("#reports section")
    request = urllib.request.Request(
        f"{played.url}/v1/rounds/spring/report", headers={"Authorization": f"Bearer {played.tokens[user]}"}
    )
    sent = urllib.request.urlopen(request).read()
    vector = struct.unpack(f">{(len(sent) - 57) // 4}i", sent[57:])
    assert ", ".join(map(str, vector)) in page.inner_text("#reports")
    assert "Together they cost epsilon 1.5 per contact." in page.inner_text("#spent")
    page.fill("#budget-total", "10")
    assert page.inner_text("#left") == "Of a budget of 10, 8.5 is left."
    take_picture(page, "my-reports")


def test_a_user_with_a_wrong_token_or_without_reports(open_page, played):
    page = open_page(played.url + "/me")
    page.fill("#token", "nonsense")
    page.click("#login button")
    expect(page.locator("#login-status")).not_to_be_empty()
    page.fill("#token", played.tokens[played.users[399]])
    page.click("#login button")
    page.wait_for_selector("#reports section")  # answered spring only
    assert page.locator("#reports section").count() == 1


def test_a_server_that_is_gone_is_said_and_tried_again(open_page):
    with run_aggregator() as aggregator:
        page = open_page(aggregator.url + "/")
        page.wait_for_selector("#empty:not([hidden])")
    page.wait_for_selector("#trouble:not([hidden])")
    assert page.inner_text("#trouble-text") == "The server does not answer."
    assert page.locator("#trouble-again").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/", "/rounds/spring", "/rounds/spring/tree", "/operator", "/me"])
def test_pages_have_no_serious_accessibility_fault(open_page, played, path, scheme):
    from axe_playwright_python.sync_playwright import Axe

    token = {"/operator": played.aggregator.operator_token, "/me": played.tokens[played.users[0]]}.get(path)
    page = open_page(played.url + path, color_scheme=scheme, bypass_csp=True)  # axe is injected, which the policy forbids
    if token:
        page.fill("#token", token)
        page.click("#login button")
        page.wait_for_selector("#desk:not([hidden])")
    page.wait_for_selector(".card, .tile, #reports section")
    if path.endswith("tree"):
        page.fill("#search-text", played.users[0])
        page.wait_for_selector("#search-results button")
        page.keyboard.press("Enter")
        page.wait_for_selector("#person:not([hidden])")
    found = Axe().run(page).response["violations"]
    serious = [
        (fault["id"], [node["html"] for node in fault["nodes"]][:3])
        for fault in found
        if fault["impact"] in ("serious", "critical")
    ]
    assert not serious


@pytest.mark.parametrize("path", ["/", "/rounds/spring/tree", "/operator", "/me"])
def test_pages_fit_a_phone(open_page, played, path, take_picture):
    page = open_page(played.url + path, **PHONE)
    page.wait_for_selector(".card, .tile, #login:not([hidden])")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    take_picture(page, "phone" + path.replace("/", "-").rstrip("-"))


def test_pages_come_with_a_strict_policy_and_nothing_from_elsewhere(played):
    with urllib.request.urlopen(played.url + "/operator") as answer:
        policy, text = answer.headers["Content-Security-Policy"], answer.read().decode()
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert "http://" not in text
    assert "https://" not in text
    assert "<script>" not in text
    assert "style=" not in text
