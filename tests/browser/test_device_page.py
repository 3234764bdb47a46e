"""Taking part in a browser: an invitation, a file, a look at the numbers, a button; and what may go wrong on the way."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from privact.device.degrees import degree_vector
from privact.protocol.labels import LabelTable
from privact.protocol.report import Report
from privact.protocol.round import Round
from privact.protocol.round_log import RoundLog
from privact.protocol.signing import new_signing_key, public_key_of
from privact.simulate.local_aggregator import run_aggregator

expect.set_options(timeout=60_000)  # a busy machine is no failure

USERS = [f"user{number}@vinyl.example" for number in range(1200)]
DESKTOP = {"viewport": {"width": 1280, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
NUMBERS = """() => [...document.querySelectorAll("#round-spring .numbers tbody tr")].map((row) => [...row.cells].map(
    (cell) => Number((cell.firstElementChild ?? cell).textContent.replace("\\u2212", "-").replaceAll(",", ""))))"""


@dataclass(frozen=True)
class Invited:
    """An aggregator with the open rounds spring and groups, and the token of each user."""

    url: str
    tokens: dict[str, str]
    operator: dict[str, str]

    def link(self, user: str) -> str:
        return f"{self.url}/join#{self.tokens[user]}"

    def round(self, name: str = "spring") -> Round:
        return Round.from_bytes(httpx.get(f"{self.url}/v1/rounds/{name}/parameters").content)

    def report(self, user: str, name: str = "spring") -> list[int] | None:
        headers = {"Authorization": f"Bearer {self.tokens[user]}"}
        response = httpx.get(f"{self.url}/v1/rounds/{name}/report", headers=headers)
        return list(Report.from_bytes(response.content).vector) if response.status_code == 200 else None

    def open_round(self, name: str, labels: bytes | None = None, **settings: Any) -> None:
        kind = "random" if labels is None else "labels"
        wish = {"id": name, "bins": kind, **settings}
        assert httpx.post(f"{self.url}/v1/rounds", json=wish, headers=self.operator).status_code == 201
        if labels is not None:
            httpx.put(f"{self.url}/v1/rounds/{name}/labels", content=labels, headers=self.operator)
        assert httpx.post(f"{self.url}/v1/rounds/{name}/open", headers=self.operator).status_code == 200


@pytest.fixture(scope="module")
def invited() -> Iterator[Invited]:
    with run_aggregator() as aggregator:
        operator = {"Authorization": f"Bearer {aggregator.operator_token}"}
        tokens = httpx.post(f"{aggregator.url}/v1/users", json={"users": USERS}, headers=operator).json()["tokens"]
        made = Invited(aggregator.url, tokens, operator)
        made.open_round("spring", epsilon=1.0)
        groups = "".join(f"{user},{('jazz', 'folk', 'rock')[place % 3]}\n" for place, user in enumerate(USERS[:150]))
        made.open_round("groups", groups.encode(), epsilon=0.5, visibility="users")
        yield made


@pytest.fixture
def contacts(tmp_path: Path) -> Path:
    """Mastodon's export of 37 followed accounts, one of them twice."""
    lines = [f"{user},true,false,\n" for user in [*USERS[20:57], USERS[20].upper()]]
    file = tmp_path / "following_accounts.csv"
    file.write_text("Account address,Show boosts,Notify on new posts,Languages\n" + "".join(lines))
    return file


def ready(page: Any) -> Any:
    page.wait_for_selector("body[data-ready]")
    return page


def spring(page: Any) -> Any:
    return page.locator("#round-spring")


def look(page: Any, contacts: Path) -> list[list[int]]:
    """Choose contacts and add noise; the rows of the picture: box, contacts, noise, sent."""
    spring(page).locator("input[type=file]").set_input_files(contacts)
    spring(page).get_by_role("button", name="Add noise").click()
    spring(page).get_by_role("button", name="Do not send").wait_for()
    return page.evaluate(NUMBERS)


def send(page: Any) -> None:
    spring(page).get_by_role("button", name=re.compile("^Send these")).click()
    expect(spring(page)).to_contain_text("Sent. Thank you!")


def faults(page: Any) -> list[Any]:
    found = Axe().run(page).response["violations"]
    return [(fault["id"], [node["html"] for node in fault["nodes"]][:3]) for fault in found]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("size", "options"), [("desktop", DESKTOP), ("phone", PHONE)])
def test_the_whole_way(open_page, invited, contacts, take_picture, scheme, size, options) -> None:
    user = USERS[["light", "dark"].index(scheme) + 2 * ["desktop", "phone"].index(size)]
    page = ready(open_page(f"{invited.url}/join", color_scheme=scheme, bypass_csp=True, **options))
    assert "Your contacts stay here" in page.inner_text("#welcome")
    assert faults(page) == []
    page.fill("#invitation-link", invited.link(user))
    page.get_by_role("button", name="Take part").click()
    expect(page.locator("#person-name")).to_have_text(user)
    expect(page.locator("#budget-text")).to_contain_text("10 of 10 privacy points left")
    assert faults(page) == []
    spring(page).locator("input[type=file]").set_input_files(contacts)
    expect(spring(page)).to_contain_text("37 contacts found in your Mastodon export; 1 was named twice and counted once.")
    assert faults(page) == []
    spring(page).get_by_role("button", name="Add noise").click()
    spring(page).get_by_role("button", name="Do not send").wait_for()
    rows = page.evaluate(NUMBERS)
    exact = degree_vector(USERS[20:57], invited.round(), owner=user)
    assert [row[1] for row in rows] == exact
    assert all(count + noise == sent for _, count, noise, sent in rows)
    expect(spring(page)).to_contain_text("Sending uses 1 privacy point of the 10 that you have left; 9 will be left.")
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    take_picture(page, f"take-part-{size}-{scheme}", "#round-spring")
    assert invited.report(user) is None
    send(page)
    assert invited.report(user) == [row[3] for row in rows]
    expect(page.locator("#budget-text")).to_contain_text("9 of 10 privacy points left")
    for summary in page.locator("#past > summary, #meaning > summary, #settings > summary").all():
        summary.click()
    assert faults(page) == []
    assert invited.tokens[user] not in page.content()
    page.reload()
    expect(page.locator("#person-name")).to_have_text(user)  # it remembers the person
    expect(page.locator("#past")).to_contain_text("arrived")


def test_the_invitation_leaves_the_address_before_anything_else_is_loaded(open_page, invited) -> None:
    page = open_page("about:blank")
    addresses: list[str] = []
    page.on("request", lambda request: addresses.append(page.url) if request.url.endswith("app.js") else None)
    page.goto(invited.link(USERS[10]))
    ready(page)
    assert addresses
    assert all(invited.tokens[USERS[10]] not in address for address in [*addresses, page.url])
    assert page.url == f"{invited.url}/join/"
    page.go_back()
    assert page.url == "about:blank"  # nor is it in the history
    page.go_forward()
    assert page.url == f"{invited.url}/join/"


def test_everything_can_be_done_with_the_keyboard(open_page, invited, contacts) -> None:
    page = ready(open_page(invited.link(USERS[11])))
    spring(page).locator("input[type=file]").wait_for(state="attached")
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "file-spring":
            break
    assert page.evaluate("document.activeElement.id") == "file-spring"
    assert "3px" in page.evaluate("getComputedStyle(document.querySelector('#round-spring .drop')).outlineWidth")
    page.locator("#file-spring").set_input_files(contacts)
    expect(spring(page).get_by_role("button", name="Add noise")).to_be_focused()
    page.keyboard.press("Enter")
    expect(spring(page).get_by_role("button", name=re.compile("^Send these"))).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(spring(page)).to_contain_text("Nothing was sent, and nothing was used.")
    page.keyboard.press("Enter")
    expect(spring(page).get_by_role("button", name=re.compile("^Send these"))).to_be_focused()
    page.keyboard.press("Enter")
    expect(spring(page)).to_contain_text("Sent. Thank you!")
    assert invited.report(USERS[11]) is not None


def test_label_groups_are_counted_whole(open_page, invited, contacts) -> None:
    user = USERS[12]
    page = ready(open_page(invited.link(user)))
    card = page.locator("#round-groups")
    card.locator("input[type=file]").set_input_files(contacts)
    expect(card).to_contain_text("one of 3 public groups")
    mine = {"Authorization": f"Bearer {invited.tokens[user]}"}
    table = LabelTable.from_bytes(httpx.get(f"{invited.url}/v1/rounds/groups/labels", headers=mine).content)
    exact = degree_vector(USERS[20:57], invited.round("groups"), table, owner=user)
    assert [row[1] for row in page.evaluate(NUMBERS.replace("round-spring", "round-groups"))] == exact
    assert card.locator(".numbers tbody th").all_inner_texts() == ["folk", "jazz", "rock"]


def test_a_tab_that_is_closed_draws_once_and_sends_the_same_later(open_page, invited, contacts) -> None:
    user = USERS[13]
    page = ready(open_page(invited.link(user)))
    rows = look(page, contacts)
    context = page.context
    page.close()
    page = context.new_page()
    page.goto(f"{invited.url}/join/")
    expect(spring(page)).to_contain_text("These numbers were drawn before and wait here.")
    assert [row[1] for row in page.evaluate(NUMBERS)] == [row[3] for row in rows]
    expect(page.locator("#budget-text")).to_contain_text("10 of 10")
    page.route("**/report", lambda route: route.abort())  # the network is gone at the wrong moment
    spring(page).get_by_role("button", name=re.compile("^Send these")).click()
    expect(page.locator("#budget-text")).to_contain_text("9 of 10")
    page.close()
    assert invited.report(user) is None
    page = context.new_page()
    page.goto(f"{invited.url}/join/")
    expect(spring(page)).to_contain_text("Sent. Thank you!")
    assert invited.report(user) == [row[3] for row in rows]
    expect(page.locator("#budget-text")).to_contain_text("9 of 10")


def test_it_opens_without_a_network_and_says_so(open_page, invited) -> None:
    page = ready(open_page(invited.link(USERS[14])))
    page.evaluate("navigator.serviceWorker.ready")
    page.wait_for_function("async () => (await (await caches.open('privact page')).keys()).length > 30")
    page.context.set_offline(True)
    page.reload()
    expect(page.locator("#person-name")).to_have_text(USERS[14])
    expect(page.locator("#trouble-text")).to_contain_text("cannot be reached: check your connection")
    page.goto("about:blank")
    page.goto(invited.link(USERS[14]))  # as in the mail, which redirects
    expect(page.locator("#person-name")).to_have_text(USERS[14])
    page.context.set_offline(False)
    page.get_by_role("button", name="Try again").click()
    expect(spring(page)).to_be_visible()


def test_a_page_of_another_origin_takes_part_too(open_page, invited, contacts, page_files_url) -> None:
    user = USERS[15]
    elsewhere = quote(invited.url, safe="")
    page = ready(open_page(f"{page_files_url}/index.html#{invited.tokens[user]}@{elsewhere}"))
    assert page.url == f"{page_files_url}/index.html"
    rows = look(page, contacts)
    send(page)
    assert invited.report(user) == [row[3] for row in rows]


def test_a_new_round_is_told(open_page, invited) -> None:
    page = ready(open_page(invited.link(USERS[16])))
    expect(page).to_have_title("(2) Take part · PrivaCT")
    page.clock.install()
    page.reload()
    expect(page).to_have_title("(2) Take part · PrivaCT")
    invited.open_round("summer", epsilon=0.5)
    page.clock.fast_forward(61_000)
    expect(page).to_have_title("(3) Take part · PrivaCT")
    expect(page.locator("#round-summer")).to_contain_text("Choose a file with your contacts")


def test_a_full_storage_sends_nothing_and_goes_on_when_there_is_room(open_page, invited, contacts, small_disk) -> None:
    user = USERS[17]
    page = open_page("about:blank", service_workers="block")
    disk = small_disk(page, invited.url)
    page.goto(invited.link(user))
    spring(ready(page)).locator("input[type=file]").set_input_files(contacts)
    disk.fill()
    spring(page).get_by_role("button", name="Add noise").click()
    expect(spring(page).locator(".status")).to_contain_text("This browser has no room left")
    expect(spring(page).get_by_role("button", name="Add noise")).to_be_visible()
    disk.free()
    spring(page).get_by_role("button", name="Add noise").click()
    expect(spring(page).get_by_role("button", name="Do not send")).to_be_visible()
    numbers = [row[3] for row in page.evaluate(NUMBERS)]
    disk.fill()
    spring(page).get_by_role("button", name=re.compile("^Send these")).click()
    expect(spring(page).locator(".status")).to_contain_text("This browser has no room left")
    expect(page.locator("#budget-text")).to_contain_text("10 of 10")
    assert invited.report(user) is None
    disk.free()
    send(page)
    assert invited.report(user) == numbers


def test_who_joins_with_a_full_storage_is_told_and_loses_no_invitation(open_page, invited, small_disk) -> None:
    user = USERS[902]
    link = invite(invited, user)
    page = open_page("about:blank", service_workers="block")
    disk = small_disk(page, invited.url, room=1)
    page.goto(link)
    expect(ready(page).locator("#trouble-text")).to_contain_text("This browser has no room left")
    disk.free()
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#person-name")).to_have_text(user)


def test_a_tab_killed_before_it_hears_that_its_numbers_arrived_sends_nothing_else(open_page, invited, contacts) -> None:
    user = USERS[903]
    page = ready(open_page(invited.link(user), service_workers="block"))
    numbers = [row[3] for row in look(page, contacts)]
    page.route("**/spring/report", lambda route: route.fetch())  # it arrives, and the tab never hears of it
    spring(page).get_by_role("button", name=re.compile("^Send these")).click()
    for _ in range(600):
        if invited.report(user) is not None:
            break
        page.wait_for_timeout(100)
    context = page.context
    page.close()
    again = context.new_page()
    again.goto(f"{invited.url}/join/")
    expect(again.locator("#budget-text")).to_contain_text("9 of 10")
    expect(again.locator("#past")).to_contain_text("Round spring")
    assert invited.report(user) == numbers


def test_a_backup_moves_to_another_browser(open_page, invited, contacts, tmp_path) -> None:
    user = USERS[18]
    page = ready(open_page(invited.link(user)))
    rows = look(page, contacts)
    send(page)
    page.click("#settings > summary")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save a backup").click()
    download.value.save_as(tmp_path / "backup.json")
    again = ready(open_page(invited.link(user)))
    expect(again.locator("#lost")).to_contain_text("you took part in a round before")
    with again.expect_file_chooser() as chooser:
        again.get_by_role("button", name="Restore a backup").last.click()
    chooser.value.set_files(tmp_path / "backup.json")
    expect(again.locator("#person-name")).to_have_text(user)
    expect(again.locator("#budget-text")).to_contain_text("9 of 10")
    again.click("#past > summary")
    again.locator("#past-list summary").first.click()
    shown = again.locator("#past-list .numbers td.sent > span:first-child").all_inner_texts()
    assert [int(text.replace("\u2212", "-")) for text in shown] == [row[3] for row in rows]


def test_a_browser_that_forgot_asks_what_was_spent(open_page, invited, contacts) -> None:
    user = USERS[73]
    page = ready(open_page(invited.link(user)))
    look(page, contacts)
    send(page)
    damage = """() => new Promise((done) => { const request = indexedDB.open("privact"); request.onsuccess = () => {
        const write = request.result.transaction("entries", "readwrite");
        write.objectStore("entries").clear();
        write.oncomplete = done;
    }; })"""
    page.evaluate(damage)
    page.reload()
    expect(page.locator("#lost")).to_contain_text("what this browser knew of your answers is gone")
    expect(page.locator("#desk")).to_be_hidden()
    expect(page.locator("#lost-spent")).to_have_value("1")
    page.fill("#lost-spent", "2.5")
    page.get_by_role("button", name="Begin again").click()
    expect(page.locator("#budget-text")).to_contain_text("7.5 of 10 privacy points left")
    expect(spring(page)).to_contain_text("it is not answered again")


def test_an_answer_that_came_too_late_is_told_once_and_not_sent_again(open_page, invited, contacts) -> None:
    page = ready(open_page(invited.link(USERS[74]), service_workers="block"))
    look(page, contacts)
    sent: list[str] = []

    def late(route: Any) -> None:
        sent.append(route.request.url)
        route.fulfill(status=410, body=json.dumps({"error": "round 'spring' has closed"}))

    page.route("**/spring/report", late)
    spring(page).get_by_role("button", name=re.compile("^Send these")).click()
    expect(spring(page)).to_contain_text("Not counted")
    page.reload()
    expect(spring(page)).to_contain_text("the round had closed when your numbers came")
    assert len(sent) == 1


def test_a_round_that_is_over_gives_the_community_back(open_page, played) -> None:
    user = played.users[3]
    page = ready(open_page(f"{played.url}/join#{played.tokens[user]}", bypass_csp=True))
    page.fill("#lost-spent", "1")  # a simulated device answered for this user
    page.get_by_role("button", name="Begin again").click()
    result = page.locator("#result-spring")
    expect(result.get_by_role("status")).to_contain_text("people")

    def shown() -> tuple[int, list[str]]:
        return int(result.get_by_role("status").inner_text().split()[0]), result.locator(".list li").all_inner_texts()

    expect(result.locator(".list li").first).to_be_visible()
    expect(result.get_by_role("heading", name="People you may know")).to_be_visible()
    expect(result).not_to_contain_text("One round like this")  # it is one over labels
    told = result.get_by_label("Others may be told about me")
    expect(told).to_be_checked()
    assert faults(page) == []
    told.click()
    expect(result).to_contain_text("Nobody is told about you any more.")
    page.reload()
    expect(told).not_to_be_checked()
    told.click()
    expect(result).to_contain_text("Others may be told about you.")
    size, people = shown()
    asked = httpx.get(f"{played.url}/v1/rounds/spring/tree/community", params={"user": user, "size": 20}).json()
    assert size == asked["size"]
    assert people == [each["user"] for each in asked["users"] if each["user"] != user]
    slider = result.get_by_role("slider")
    slider.focus()
    page.keyboard.press("Home")
    fewer = httpx.get(f"{played.url}/v1/rounds/spring/tree/community", params={"user": user, "size": 5}).json()
    expect(result.get_by_role("status")).to_contain_text(f"{fewer['size']} people")
    assert slider.get_attribute("aria-valuetext") == "about 5 people"


def test_limits_only_become_stricter(open_page, invited) -> None:
    page = ready(open_page(invited.link(USERS[19])))
    page.click("#settings > summary")
    page.fill("#limit-cap", "0.75")
    page.get_by_role("button", name="Make stricter").click()
    expect(page.locator("#limits-status")).to_have_text("These limits hold from now on.")
    page.fill("#limit-cap", "3")
    page.get_by_role("button", name="Make stricter").click()
    expect(page.locator("#trouble-text")).to_contain_text("limits only become stricter")
    page.reload()
    expect(spring(page)).to_contain_text("costs 1, more than the 0.75 that you allow one round")


def announced(me: dict[str, Any], **other: Any) -> dict[str, Any]:
    """What the aggregator says of a user, with something else about round spring."""
    return me | {"rounds": [round | other if round["id"] == "spring" else round for round in me["rounds"]]}


def other_round(invited: Invited, **other: Any) -> Round:
    return Round(**{**vars(invited.round()), **other})


LIES = {
    "other bytes than announced": (
        {"parameters": lambda i: other_round(i, epsilon=0.5).to_bytes()},
        "not the one that was announced",
    ),
    "a costly round": ({"round": lambda i: other_round(i, epsilon=5.0)}, "costs 5, more than the 2 that you allow"),
    "a round for some only": ({"round": lambda i: other_round(i, epsilon=0.5), "log": True}, "not in the public log of rounds"),
    "a tiny round": ({"round": lambda i: other_round(i, n_users=20)}, "20 people, fewer than the 100"),
    "a round that is over": ({"round": lambda i: other_round(i, opens=0, closes=5)}, "closed at 1970"),
    "another round's name": ({"round": lambda i: other_round(i, id="autumn")}, "calls itself autumn"),
    "no round at all": ({"parameters": lambda i: b"PCRD" + bytes(90), "digest": True}, "not from 1 to 1"),
    "another user": ({"me": lambda me: me | {"user": USERS[0]}}, "takes you for somebody else"),
    "an answer that was never given": ({"me": lambda me: announced(me, answered_at=5)}, "you took part in a round before"),
    "not what was asked": ({"me": lambda me: []}, "does not answer as it should"),
    "markup": ({"me": lambda me: announced(me, id="<img src=x onerror=alert(1)>")}, "does not answer as it should"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lying_aggregator_gets_nothing(open_page, invited, lie) -> None:
    told, said = LIES[lie]
    sent: list[str] = []
    page = open_page("about:blank", service_workers="block")

    def answer(route: Any) -> None:
        request = route.request
        if request.method == "PUT":
            sent.append(request.url)
        made = told["round"](invited).to_bytes() if "round" in told else None
        if request.url.endswith("/spring/parameters") and (made or "parameters" in told):
            route.fulfill(body=made or told["parameters"](invited), content_type="application/octet-stream")
        elif request.url.endswith("/v1/log") and "log" not in told:  # it would give most of these lies away
            route.fulfill(status=404, body="{}")
        elif request.url.endswith("/v1/me"):
            me = route.fetch().json()
            encoded = made or (told["parameters"](invited) if "digest" in told else None)
            if encoded:
                me = announced(me, digest=hashlib.blake2b(encoded, digest_size=32).hexdigest())
            route.fulfill(body=json.dumps(told.get("me", lambda same: same)(me)), content_type="application/json")
        else:
            route.continue_()

    page.route("**/v1/**", answer)
    page.goto(invited.link(USERS[70]))
    ready(page)
    expect(page.locator("main")).to_contain_text(said)
    expect(spring(page).locator("input[type=file]")).to_have_count(0)
    assert sent == []


def test_a_round_outside_the_log_and_a_rewritten_log_are_refused(open_page, invited) -> None:
    secret = new_signing_key()
    listed = RoundLog(public_key_of(secret)).append(invited.round("groups"), secret)
    page = open_page("about:blank", service_workers="block")
    page.route("**/v1/log", lambda route: route.fulfill(body=listed.to_bytes()))
    page.goto(invited.link(USERS[75]))
    ready(page)
    expect(spring(page)).to_contain_text("not in the public log of rounds")
    expect(page.locator("#round-groups")).to_contain_text("Choose a file with your contacts")
    page.unroute("**/v1/log")
    other = RoundLog(public_key_of(secret)).append(invited.round(), secret)
    page.route("**/v1/log", lambda route: route.fulfill(body=other.to_bytes()))
    page.reload()
    expect(page.locator("#trouble-text")).to_contain_text("The log of rounds was rewritten: nothing is answered")
    expect(page.locator("#rounds section")).to_have_count(0)


def test_a_round_that_changes_after_it_was_drawn_is_refused(open_page, invited, contacts) -> None:
    page = ready(open_page(invited.link(USERS[71]), service_workers="block"))
    look(page, contacts)
    changed = other_round(invited, epsilon=0.5).to_bytes()
    digest = hashlib.blake2b(changed, digest_size=32).hexdigest()
    page.route("**/spring/parameters", lambda route: route.fulfill(body=changed))
    page.route("**/v1/me", lambda route: route.fulfill(body=json.dumps(announced(route.fetch().json(), digest=digest))))
    page.reload()
    expect(spring(page)).to_contain_text("was changed after you answered it: it is not answered again")


@pytest.mark.parametrize("text", ["   ", "x", "https://a.example/join#short", "javascript:alert(1)#" + "0" * 80])
def test_what_is_no_invitation_is_refused(open_page, invited, text) -> None:
    page = ready(open_page(f"{invited.url}/join/"))
    page.fill("#invitation-link", text)
    page.get_by_role("button", name="Take part").click()
    expect(page.locator("#trouble-text")).to_contain_text("This invitation")


def test_what_cannot_be_read_is_left_out_and_said(open_page, invited, tmp_path) -> None:
    page = ready(open_page(invited.link(USERS[72])))
    file = tmp_path / "contacts.csv"
    file.write_bytes(b"bob@b.example\na@b.example,c@d.example,e@f.example\n\xff\xfe@b.example\n")
    spring(page).locator("input[type=file]").set_input_files(file)
    expect(spring(page)).to_contain_text(
        "1 contact found in your list; 2 entries have no address that can be read and were left out."
    )
    spring(page).get_by_text("See the contacts that were found").click()
    assert spring(page).get_by_label("Contacts that were found").locator("li").all_inner_texts() == ["bob@b.example"]
    spring(page).get_by_text("See what was left out, and why").click()
    assert spring(page).get_by_label("What was left out").locator("li").count() == 2


def test_a_file_without_contacts_is_taken_for_the_wrong_one(open_page, invited, contacts, tmp_path) -> None:
    page = ready(open_page(invited.link(USERS[905])))
    file = tmp_path / "hostname"
    file.write_text("myhost\n")
    spring(page).locator("input[type=file]").set_input_files(file)
    expect(spring(page)).to_contain_text("No contact was found: this does not look like a list of contacts.")
    expect(spring(page).get_by_role("button", name="Choose another file")).to_be_focused()
    page.keyboard.press("Enter")
    spring(page).locator("input[type=file]").set_input_files(contacts)
    expect(spring(page).get_by_role("button", name="Add noise")).to_be_focused()


def invite(invited: Invited, user: str) -> str:
    """The link of a new invitation."""
    asked = {"json": {"users": [user]}, "headers": invited.operator}
    return f"{invited.url}/join#{httpx.post(f'{invited.url}/v1/users/invite', **asked).json()['invitations'][user]}"


def test_an_invitation_is_used_once_and_its_link_opens_the_page_again_where_it_was_used(open_page, invited) -> None:
    user = USERS[900]
    link = invite(invited, user)
    page = ready(open_page(link, **PHONE))
    expect(page.locator("#person-name")).to_have_text(user)
    assert "invite-" not in page.url
    page.goto("about:blank")
    page.goto(link)  # from the mail, again
    expect(ready(page).locator("#person-name")).to_have_text(user)
    assert page.locator("#trouble").is_hidden()
    stranger = ready(open_page(link))
    expect(stranger.locator("#trouble-text")).to_contain_text("was used before")
    assert httpx.get(f"{invited.url}/v1/me", headers={"Authorization": f"Bearer {invited.tokens[user]}"}).status_code == 401


def test_a_tab_that_is_killed_after_using_an_invitation_goes_on_with_the_same_token(open_page, invited) -> None:
    user = USERS[901]
    link = invite(invited, user)
    page = open_page("about:blank")
    page.route("**/v1/me", lambda route: route.abort())  # the token is the user's, and nothing else happens any more
    page.goto(link)
    expect(page.locator("#trouble-text")).to_contain_text("cannot be reached")
    context = page.context
    page.close()
    again = context.new_page()
    again.goto(link)
    expect(ready(again).locator("#person-name")).to_have_text(user)


AGREED = """async ([series, number]) => {
    const [{ openDatabase }, { Home }, entries] = await Promise.all(
        ["database", "home", "entries"].map((name) => import(`/join/ledger/${name}.js`)));
    const home = new Home(await openDatabase());
    const book = await home.ledgerOf((await home.accounts())[0].key).read();
    const round = { id: `waves.${number}`, series: { name: "waves", number, ...series } };
    try { entries.checkSeries(book, round); } catch (error) { return error.message; }
    return entries.agreedSeries(book, round) !== null;
}"""


def test_a_series_is_asked_for_once_with_its_total_and_refused_when_it_changes(open_page, invited, contacts) -> None:
    wish = {"name": "waves", "epsilon": 1.0, "rounds": 4, "every_seconds": 3600}
    assert httpx.post(f"{invited.url}/v1/series", json=wish, headers=invited.operator).status_code == 201
    assert httpx.post(f"{invited.url}/v1/series/waves/open", headers=invited.operator).status_code == 200
    page = ready(open_page(invited.link(USERS[910])))
    card = page.locator('[id="round-waves.1"]')
    expect(card).to_contain_text("Round 1 of 4 of the series waves, 1 privacy point in all. You are asked once, for all of them.")
    assert page.evaluate(AGREED, [{"rounds": 4, "epsilon": 1.0}, 1]) is False
    assert "costs up to 44 in 4 rounds" in page.evaluate(AGREED, [{"rounds": 4, "epsilon": 44.0}, 1])
    card.locator("input[type=file]").set_input_files(contacts)
    card.get_by_role("button", name="Add noise").click()
    expect(card).to_contain_text("Sending agrees to all 4 rounds that are left of this series, 1 privacy point in all.")
    card.get_by_role("button", name=re.compile("^Send th")).click()
    expect(card).to_contain_text("Sent. Thank you!")
    assert page.evaluate(AGREED, [{"rounds": 4, "epsilon": 1.0}, 2]) is True
    assert "you agreed to series waves with 4 rounds and 1 in all" in page.evaluate(AGREED, [{"rounds": 4, "epsilon": 2.0}, 2])
