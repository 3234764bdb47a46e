"""The aggregator's pages in a real browser: each is opened, used and looked at, as the people they are for would."""

from __future__ import annotations

import re
import struct
import time
import urllib.request

import httpx
import pytest
from playwright.sync_api import expect

from privact.device.noise import make_report
from privact.protocol.round import Round
from privact.simulate.local_aggregator import run_aggregator

PHONE = {"viewport": {"width": 360, "height": 740}}


def logged_in(open_page, played, path="/operator", token=None):
    page = open_page(played.url + path)
    page.fill("#token", token or played.aggregator.operator_token)
    page.click("#login button")
    page.wait_for_selector("#desk:not([hidden])")
    return page


def test_rounds_are_listed_with_their_promise_and_progress(open_page, played):
    page = open_page(played.url + "/")
    page.wait_for_selector(".card")
    assert page.locator(".card h2").all_inner_texts() == ["summer", "spring"]
    spring = page.locator(".card", has_text="spring").last.inner_text()
    assert "400 of 400 users answered, 1 joined late" in spring
    assert page.inner_text("body").count("Per edge") == 0  # the promise is there once, folded
    page.click("#promise summary")
    assert page.inner_text("#promise-text").startswith("Per edge: in round summer")
    assert page.locator("progress").get_attribute("value") == "200"
    page.click("text=Explore the communities")
    page.wait_for_selector(".tile")


def test_nothing_there_yet_is_said(open_page):
    with run_aggregator() as aggregator:
        page = open_page(aggregator.url + "/")
        page.wait_for_selector("#empty:not([hidden])")
        assert "No round has been opened yet" in page.inner_text("#empty")


def test_one_round_has_its_own_page(open_page, played):
    page = open_page(played.url + "/rounds/spring")
    page.wait_for_selector("#communities-list li")
    assert page.inner_text("h1") == "Round spring"
    assert page.locator("#answers-chart svg").get_attribute("aria-label").startswith("400 of 400 users answered")
    assert ".example" in page.locator("#communities-list li").first.inner_text()  # named after the label that most have
    hues = "list => list.map(each => each.querySelector('.bar')?.style.getPropertyValue('--hue') ?? '')"
    colours = page.locator("#communities-list li").evaluate_all(hues)
    assert page.locator(".primary").all_inner_texts() == ["Explore the communities"]
    with page.expect_download() as download:
        page.click("text=newick")
    assert download.value.suggested_filename == "spring.nwk" or download.value.suggested_filename.startswith("spring.")
    page.goto(played.url + "/rounds/spring/tree")
    page.wait_for_selector(".tile")
    page.click("#cut button")
    page.wait_for_selector("#cut-clusters li")
    assert page.locator("#cut-clusters li").evaluate_all(hues) == colours  # a label has one colour on all pages
    page.goto(played.url + "/rounds/nothing")
    page.wait_for_selector("#trouble:not([hidden])")
    assert "nothing" in page.inner_text("#trouble-text")


def test_an_open_round_says_how_to_take_part_with_a_link_and_a_code(open_page, played):
    page = open_page(played.url + "/rounds/summer")
    page.wait_for_selector("#join:not([hidden])")
    assert page.inner_text("#join-link") == f"{played.url}/join/"
    code = page.locator("#join-code")
    assert code.get_attribute("alt") == f"QR code of {played.url}/join/"
    expect(code).to_have_js_property("complete", True)
    assert code.evaluate("image => image.naturalWidth") > 100
    expect(code).to_be_visible()
    page.click("#join-link")
    page.wait_for_selector("#invitation")


def test_the_tree_zooms_searches_slides_cuts_and_compares(open_page, played):
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
    expect(page.locator(".ring.chosen")).to_have_count(1)
    assert page.locator("#legend li").count() > 2  # labels have names and colours
    page.click("#cut button")  # the usual cut works on every tree
    page.wait_for_selector("#cut-clusters li")
    page.fill("#cut-k", "5")
    page.fill("#cut-least", "5")
    page.click("#cut button")
    expect(page.locator("#cut-clusters li")).to_have_count(5)
    page.fill("#compare-a", played.users[0])
    page.fill("#compare-b", played.users[1])
    page.click("#compare button")
    expect(page.locator("#compare-answer")).to_contain_text("smallest community")
    large = page.locator(".tile:not(.outermost):not(.pool):not(.narrow)").first
    size = int(large.locator("span").first.inner_text())
    large.click()
    expect(page.locator("#cluster-heading")).to_have_text(f"{size} users")
    listed = page.locator("#cluster-users button")
    expect(listed).to_have_count(min(size, 100))
    if size > 100:
        page.click("#cluster-more")
        expect(listed).to_have_count(min(size, 200))


def test_who_joined_late_is_marked(open_page, played):
    page = open_page(played.url + "/rounds/spring/tree")
    page.wait_for_selector(".tile")
    page.wait_for_selector("#late-note:not([hidden])")
    page.fill("#search-text", "late@")
    page.wait_for_selector("#search-results button")
    assert page.inner_text("#search-results button") == f"◦ {played.late}"


def test_an_operator_needs_the_right_token(open_page, played):
    page = open_page(played.url + "/operator")
    page.fill("#token", "operator." + "x" * 43)
    page.click("#login button")
    expect(page.locator("#login .problem span")).to_have_text("This token is not right.")
    assert page.locator("#desk").is_hidden()
    page.fill("#token", played.aggregator.operator_token)
    page.click("#login button")
    page.wait_for_selector("#steps > li.now")
    assert played.aggregator.operator_token not in page.content()
    page.reload()
    page.wait_for_selector("#steps > li.now")  # this tab stays logged in
    page.click("#logout")
    assert page.locator("#desk").is_hidden()
    page.reload()
    page.wait_for_selector("#login:not([hidden])")


def test_an_operator_runs_a_round_from_draft_to_closed(open_page, played):
    page = logged_in(open_page, played, "/operator#users")
    page.fill("#enrol-ids", "new1@page.example\nnew2@page.example\n")
    page.click("#enrol button[type=submit]")
    page.wait_for_selector("#invitations:not([hidden])")
    expect(page.locator("#enrol-status")).to_have_text("2 enrolled.")
    assert page.locator("#invitation-list li").count() == 2
    page.click(".tabs >> text=Rounds")
    page.fill("#new-id", "autumn")
    page.click("#new-round button[type=submit]")
    card = page.locator(".card", has_text="autumn")
    card.get_by_role("button", name="Open").click()
    expect(page.locator("dialog")).to_contain_text("asks 403 users. Each device that answers spends epsilon 1 for each contact")
    page.click("dialog >> text=Cancel")
    expect(card.locator(".state")).to_have_text("draft")
    card.get_by_role("button", name="Open").click()
    page.locator("dialog button[value=yes]").click()
    expect(card.locator(".state")).to_have_text("open")
    card.get_by_role("button", name="Close and learn").click()
    expect(page.locator("dialog")).to_contain_text("0 of 403 users answered")
    expect(page.locator("dialog button[value=yes]")).to_be_disabled()  # too few: it must be meant
    page.keyboard.press("Escape")
    expect(card.locator(".state")).to_have_text("open")
    card.get_by_role("button", name="Close and learn").click()
    page.check("dialog input[type=checkbox]")
    page.locator("dialog button[value=yes]").click()
    expect(card.locator(".state")).to_have_text("failed", timeout=30_000)
    assert "100" in card.inner_text()  # nobody answered: fewer than the fewest users, never learned


def test_an_error_stays_beside_its_form_until_dismissed(open_page, played):
    page = logged_in(open_page, played, "/operator#rounds")
    page.fill("#new-id", "spring")
    page.click("#new-round button[type=submit]")
    problem = page.locator("#new-round .problem")
    expect(problem).to_contain_text("there is a round 'spring' already")
    with page.expect_response(lambda response: response.url.endswith("/v1/rounds")):
        pass  # the desk was refreshed meanwhile
    page.wait_for_timeout(100)
    expect(problem).to_be_visible()
    problem.get_by_role("button").click()
    expect(problem).to_be_hidden()


def test_a_mistyped_draft_is_deleted(open_page, played):
    page = logged_in(open_page, played, "/operator#rounds")
    page.fill("#new-id", "wniter")
    page.click("#new-round button[type=submit]")
    card = page.locator(".card", has_text="wniter")
    card.get_by_role("button", name="Delete").click()
    page.locator("dialog button[value=yes]").click()
    expect(card).to_have_count(0)


def test_a_series_is_drafted_over_labels_given_others_and_deleted(open_page, played):
    page = logged_in(open_page, played, "/operator#rounds")
    page.fill("#series-name", "wavse")
    page.fill("#series-epsilon", "12")
    page.select_option("#series-kind", "labels")
    lines = [f"{user},{'ab'[place % 2]}\n" for place, user in enumerate(played.users)]
    page.set_input_files("#series-labels", {"name": "labels.csv", "mimeType": "text/csv", "buffer": "".join(lines).encode()})
    page.click("#new-series button[type=submit]")
    card = page.locator(".card", has_text="wavse")
    expect(card).to_contain_text("5 rounds, together epsilon 12 for each contact")
    card.get_by_role("button", name="Open").click()
    expect(page.locator("dialog")).to_contain_text(
        "by default they refuse rounds above epsilon 2, and this one asks for 2.4 in each"
    )
    page.click("dialog >> text=Cancel")
    wrong = {"name": "labels.csv", "mimeType": "text/csv", "buffer": b"\n"}
    page.set_input_files('[aria-label="Labels of wavse"]', wrong)
    expect(card.locator(".problem")).to_be_visible()
    card.get_by_role("button", name="Delete").click()
    page.locator("dialog button[value=yes]").click()
    expect(card).to_have_count(0)


def test_a_user_gets_a_token_is_hidden_and_revoked(open_page, played):
    user = played.users[42]
    page = logged_in(open_page, played, "/operator#users")
    page.fill("#search-text", user)
    row = page.locator("#users-list tr", has_text=user)
    expect(page.locator("#users-list tr")).to_have_count(1)
    row.locator("summary").click()
    row.get_by_role("button", name="Hide from others").click()
    expect(row).to_contain_text("Is recommended to nobody.")
    row.get_by_role("button", name="Show to others").click()
    expect(row).to_contain_text("May be recommended to others.")
    row.get_by_role("button", name="New token").click()
    page.locator("dialog button[value=yes]").click()
    field = row.locator("input[readonly]")
    expect(field).to_have_value(re.compile(r"\S{40,}"))
    headers = {"Authorization": f"Bearer {field.input_value()}"}
    assert httpx.get(f"{played.url}/v1/me", headers=headers).json()["user"] == user
    row.get_by_role("button", name="Revoke").click()
    page.locator("dialog button[value=yes]").click()
    expect(row).to_contain_text("Link and token are worthless now.")
    assert httpx.get(f"{played.url}/v1/me", headers=headers).status_code == 401


def test_an_unknown_address_gives_a_page(open_page, played):
    page = open_page(played.url + "/no/such/page")
    assert page.inner_text("h1") == "Nothing is at this address"
    page.click("main a")
    page.wait_for_selector(".card")


def test_a_user_sees_the_very_numbers_that_were_sent(open_page, played):
    user = played.users[3]
    page = logged_in(open_page, played, "/me", played.tokens[user])
    page.wait_for_selector("#reports section")
    page.locator("#reports section", has_text="spring").locator("summary").click()  # the newest is open, the others are folded
    request = urllib.request.Request(
        f"{played.url}/v1/rounds/spring/report", headers={"Authorization": f"Bearer {played.tokens[user]}"}
    )
    sent = urllib.request.urlopen(request).read()
    vector = struct.unpack(f">{(len(sent) - 57) // 4}i", sent[57:])
    assert ", ".join(map(str, vector)) in page.inner_text("#reports")
    labels = page.locator("#reports section").filter(has_text="spring").locator(".sent-numbers > .quiet").all_inner_texts()
    names = httpx.get(f"{played.url}/v1/rounds/spring/labels/names").json()["names"]
    assert labels == names
    assert all(name.endswith(".example") for name in names)
    assert "at most 74 percent sure" in page.inner_text("#reports")
    shown = page.inner_text("main").lower()
    assert not [word for word in ("vector", "bin ", "bins") if word in shown]
    page.get_by_role("link", name="What does a point mean?").click()
    expect(page.locator("#meaning svg.curves")).to_be_visible()
    expect(page.locator("#meaning-text")).to_contain_text("at most 74 percent sure")
    page.go_back()
    page.wait_for_selector("#reports section")
    assert "Together they cost 1.5 privacy points for each of your contacts." in page.inner_text("#spent")
    page.fill("#budget-total", "10")
    assert page.inner_text("#left") == "Of a budget of 10, 8.5 is left."


def test_a_user_sees_their_community_at_the_size_they_choose(open_page, played):
    user = played.users[0]
    page = logged_in(open_page, played, "/me", played.tokens[user])
    for key, size in (("", 20), ("Home", 5), ("End", 200)):
        page.focus("#size")
        if key:
            page.keyboard.press(key)
        found = httpx.get(f"{played.url}/v1/rounds/spring/tree/community", params={"user": user, "size": size}).json()
        expect(page.locator("#community-status")).to_contain_text(f"{found['size']} people")
        expect(page.locator("#community li")).to_have_text([each["user"] for each in found["users"] if each["user"] != user])
        assert page.get_attribute("#size", "aria-valuetext") == f"about {size} people"
    expect(page.locator("#community-status")).not_to_contain_text("One round like this")  # it is one over labels
    assert page.locator("#items-panel").is_hidden()  # nobody gave ratings


def test_a_user_sees_people_and_decides_to_be_shown_to_others(open_page, played):
    user, other = played.users[0], played.users[1]
    page = logged_in(open_page, played, "/me", played.tokens[user])
    page.wait_for_selector("#people li")
    assert user not in page.inner_text("#people")
    assert page.is_checked("#discoverable")
    with page.expect_response("**/v1/me/discoverable") as said:
        page.uncheck("#discoverable")
    assert said.value.json() == {"discoverable": False}
    headers = {"Authorization": f"Bearer {played.tokens[other]}"}
    listed = httpx.get(f"{played.url}/v1/rounds/spring/people?k=100", headers=headers).json()["people"]
    assert user not in [each["user"] for each in listed]
    with page.expect_response("**/v1/me/discoverable"):
        page.check("#discoverable")


def test_a_user_with_a_wrong_token_or_without_reports(open_page, played):
    page = open_page(played.url + "/me")
    page.fill("#token", "nonsense")
    page.click("#login button")
    expect(page.locator("#login .problem")).to_be_visible()
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


PATHS = [
    "/",
    "/rounds/spring",
    "/rounds/spring/tree",
    "/me",
    *(f"/operator#{tab}" for tab in ("start", "rounds", "users", "ratings")),
]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", PATHS)
def test_pages_have_no_serious_accessibility_fault(open_page, played, path, scheme):
    from axe_playwright_python.sync_playwright import Axe

    token = {"/operator": played.aggregator.operator_token, "/me": played.tokens[played.users[0]]}.get(path.partition("#")[0])
    page = open_page(played.url + path, color_scheme=scheme, bypass_csp=True)  # axe is injected, which the policy forbids
    if token:
        page.fill("#token", token)
        page.click("#login button")
        page.wait_for_selector("#desk:not([hidden])")
    page.wait_for_selector(".card:visible, .tile:visible, #reports section:visible, .panel:visible")
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


@pytest.mark.parametrize("path", ["/", "/rounds/spring", "/rounds/spring/tree", "/operator", "/me"])
def test_pages_fit_a_phone(open_page, played, path):
    page = open_page(played.url + path, **PHONE)
    page.wait_for_selector(".card:visible, .tile:visible, .panel:visible")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


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


def test_what_is_not_for_everybody_says_so_and_is_downloaded_by_who_is_logged_in(open_page):
    with run_aggregator(minimum_users=2) as aggregator:
        headers = {"Authorization": f"Bearer {aggregator.operator_token}"}
        service = httpx.Client(base_url=aggregator.url, headers=headers, timeout=60)
        tokens = service.post("/v1/users", json={"users": ["ada", "bob"]}).json()["tokens"]
        service.post("/v1/rounds", json={"id": "private", "epsilon": 1.0, "visibility": "operator"})
        service.post("/v1/rounds/private/open")
        round = Round.from_bytes(service.get("/v1/rounds/private/parameters").content)
        for user, token in tokens.items():
            body = make_report([other for other in tokens if other != user], round, user).to_bytes()
            httpx.put(
                f"{aggregator.url}/v1/rounds/private/report", content=body, headers={"Authorization": f"Bearer {token}"}
            ).raise_for_status()
        service.post("/v1/rounds/private/close")
        while service.get("/v1/rounds/private").json()["state"] != "released":
            time.sleep(0.1)
        page = open_page(aggregator.url + "/rounds/private")
        expect(page.locator("#communities-lead")).to_contain_text("not for everybody: log in first")
        assert page.locator("#trouble, #primary a, #downloads a").count() == 1  # the place for trouble, which is hidden
        expect(page.locator("#trouble")).to_be_hidden()
        page.goto(aggregator.url + "/rounds/private/tree")
        expect(page.locator("#trouble")).to_contain_text("not for everybody: log in first")
        page.goto(aggregator.url + "/operator")
        page.fill("#token", aggregator.operator_token)
        page.click("#login button")
        page.wait_for_selector("#desk:not([hidden])")
        page.goto(aggregator.url + "/rounds/private")
        with page.expect_download() as saved:
            page.click("#downloads >> text=json")
        assert saved.value.suggested_filename == "private.json"
        assert {"ada", "bob"} <= set(re.findall("ada|bob", saved.value.path().read_text()))
