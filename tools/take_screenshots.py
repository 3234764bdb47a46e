"""Take the screenshots of docs/images: every page at 1280 and 390 pixels, light and dark, empty, busy and failed.

    python tools/take_screenshots.py [FOLDER]      # by default docs/images/pages

Needs Chromium, Playwright and Pillow. An aggregator is started for it, with made-up users and devices.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

from privact.errors import AggregatorError
from privact.protocol.addresses import aggregator_address
from privact.simulate.federated_network import FederatedNetwork, make_federated_network
from privact.simulate.http_devices import Operator, make_reports, send_reports
from privact.simulate.local_aggregator import LocalAggregator, run_aggregator

SIZES = {"wide": (1280, 860), "phone": (390, 844)}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
N_USERS = 300
CODE = '#join-code[src$="svg"]'
WHOLE = bool(os.environ.get("PRIVACT_WHOLE_PAGES"))
"""Photograph pages to their end instead of what a window shows: to look at them, not for the documentation."""


def main() -> None:
    """Play an aggregator into every state, and take its pictures."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/images/pages")
    folder.mkdir(parents=True, exist_ok=True)
    with run_aggregator() as empty, run_aggregator() as busy, ThreadPoolExecutor(1) as elsewhere:
        tokens = elsewhere.submit(play, busy).result()  # the browser has this thread's event loop
        photograph(folder, empty, busy, tokens)


def play(aggregator: LocalAggregator) -> tuple[str, str]:
    """Rounds and series in every state; the tokens of two users, one of whom never answered."""
    operator = Operator(aggregator_address(aggregator.url), aggregator.operator_token)
    network = make_federated_network(N_USERS, mean_degree=16.0, n_servers=6, server_loyalty=0.85, random_state=4)
    tokens = operator.enrol(network.graph.names, lambda *_: None)
    servers = [network.server_names[home] for home in network.servers.tolist()]
    lines = "".join(f"{user},{server}\n" for user, server in zip(network.graph.names, servers, strict=True))
    plays = "".join(
        f"{network.graph.names[row]}\t{network.artist_names[item]}\t{n}\n" for row, item, n in network.ratings.tolist()
    )
    operator.ask("PUT", "/v1/ratings", content=f"user\titem\trating\n{plays}".encode())
    operator.ask("POST", "/v1/rounds", {"id": "spring", "epsilon": 2.0, "bins": "labels"})
    operator.ask("PUT", "/v1/rounds/spring/labels", content=lines.encode())
    answer(operator, aggregator, network, tokens, "spring", N_USERS)
    operator.ask("POST", "/v1/rounds/spring/close")
    operator.released("spring", lambda *_: None)
    operator.ask("POST", "/v1/rounds", {"id": "mistake", "epsilon": 0.5})
    answer(operator, aggregator, network, tokens, "mistake", 12)
    operator.ask("POST", "/v1/rounds/mistake/close?force=true")
    newcomer = operator.enrol(["nora@tempo.example"], lambda *_: None)["nora@tempo.example"]
    operator.ask("POST", "/v1/rounds", {"id": "summer", "epsilon": 1.0, "closes": int(time.time()) + 9 * 86400})
    answer(operator, aggregator, network, tokens, "summer", 170)
    for name, last in (("waves", 3), ("tides", 2)):  # one series that is released, one whose second round is open
        operator.ask("POST", "/v1/series", {"name": name, "epsilon": 6.0, "rounds": 3, "every_seconds": 6 * 86400})
        for number in range(1, last + 1):
            wait_for_round(operator, f"{name}.{number}")
            n_answers = N_USERS if number < last or name == "waves" else 190
            answer(operator, aggregator, network, tokens, f"{name}.{number}", n_answers)
            if n_answers == N_USERS:
                operator.ask("POST", f"/v1/rounds/{name}.{number}/close")
    operator.released("waves.3", lambda *_: None)
    spread_answers(aggregator)
    operator.ask("POST", "/v1/rounds", {"id": "autumn", "epsilon": 1.0})
    return tokens[network.graph.names[0]], newcomer


DAYS = {  # how many days ago a round was opened and closed
    "spring": (40, 26), "mistake": (24, 22), "waves.1": (20, 14), "waves.2": (14, 8), "waves.3": (8, 2), "summer": (5, None),
    "tides.1": (9, 3), "tides.2": (3, None),
}  # fmt: skip


def spread_answers(aggregator: LocalAggregator) -> None:
    """Pretend that rounds took days: everything was answered in one minute, and a chart of that shows nothing."""
    now = int(time.time())
    with closing(sqlite3.connect(aggregator.folder / "privact.sqlite3")) as database, database:
        for id, (opened, closed) in DAYS.items():
            begin, end = now - 86400 * opened, now - 86400 * (closed or 0)
            database.execute("UPDATE rounds SET opened = ?, opens = ? WHERE id = ?", (begin, begin, id))
            database.execute("UPDATE rounds SET closed = ? WHERE id = ? AND closed IS NOT NULL", (end, id))
            database.execute("UPDATE rounds SET released = ? WHERE id = ? AND released IS NOT NULL", (end + 60, id))
            users = [user for (user,) in database.execute("SELECT user FROM reports WHERE round_id = ?", (id,))]
            moments = [int(begin + (end - begin) * (place / len(users)) ** 2) for place in range(len(users))]  # most come early
            rows = [(moment, id, user) for moment, user in zip(moments, users, strict=True)]
            database.executemany("UPDATE reports SET received = ? WHERE round_id = ? AND user = ?", rows)


def wait_for_round(operator: Operator, id: str) -> None:
    """Until a round of a series is there: the aggregator opens all but the first."""
    while True:
        try:
            operator.round(id)
            return
        except AggregatorError:
            time.sleep(0.2)


def answer(
    operator: Operator, aggregator: LocalAggregator, network: FederatedNetwork, tokens: dict[str, str], id: str, n: int
) -> None:
    """Open a round and answer it as the first n devices."""
    if operator.round(id)["state"] == "draft":
        operator.ask("POST", f"/v1/rounds/{id}/open")
    round = operator.parameters(id)
    reports = make_reports(network.graph, network.graph.names, round, operator.labels(round))[:n]
    send_reports(aggregator_address(aggregator.url), id, [tokens[user] for user in network.graph.names[:n]], reports)


def photograph(folder: Path, empty: LocalAggregator, busy: LocalAggregator, tokens: tuple[str, str]) -> None:
    """A picture of every page in every size and colour scheme."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu", "--no-first-run"]
        )
        for size, scheme in ((size, scheme) for size in SIZES for scheme in SCHEMES):
            width, height = SIZES[size]
            context = browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme=scheme,
                reduced_motion="reduce",
                locale="en-GB",
                has_touch=size == "phone",
            )
            page = context.new_page()
            for name in visit(page, empty, busy, tokens):
                save(page, folder / f"{name}-{size}-{scheme}.png")
            context.close()
        browser.close()


def visit(page: Any, empty: LocalAggregator, busy: LocalAggregator, tokens: tuple[str, str]) -> Iterator[str]:
    """Go through the pages; the name of what is shown."""
    page.goto(empty.url)
    page.wait_for_selector("#empty:not([hidden])")
    yield "rounds-empty"
    page.goto(empty.url + "/operator")
    if page.locator("#login").is_visible():
        yield "login"
    log_in(page, empty.url + "/operator", empty.operator_token, "#steps > li.now")
    yield "desk-empty"
    page.goto(busy.url)
    page.wait_for_selector(".card")
    yield "rounds"
    log_in(page, busy.url + "/operator", busy.operator_token, "#steps > li.now")  # operators see how good recommendations are
    for id, ready in (("spring", "#quality-figure"), ("summer", CODE), ("mistake", ".failure")):
        page.goto(f"{busy.url}/rounds/{id}")
        page.wait_for_selector(ready)
        yield f"round-{ {'spring': 'released', 'summer': 'open', 'mistake': 'failed'}[id] }"
    for name, ready in (("tides", CODE), ("waves", "#quality-figure")):
        page.goto(f"{busy.url}/series/{name}")
        page.wait_for_selector(ready)
        yield f"series-{ {'tides': 'open', 'waves': 'released'}[name] }"
    page.goto(f"{busy.url}/rounds/spring/tree")
    page.wait_for_selector(".tile")
    page.click("#cut button")
    page.wait_for_selector("#cut-clusters li")
    yield "explorer"
    page.goto(f"{busy.url}/nothing/here")
    yield "missing"
    page.goto(f"{busy.url}/join/#{tokens[1]}")
    page.wait_for_selector("#rounds .card")
    page.wait_for_load_state("networkidle")
    yield "take-part"
    log_in(page, busy.url + "/me", tokens[0], "#items li")
    yield "my-reports"
    page.goto(busy.url + "/operator")
    page.wait_for_selector("#steps > li.now")
    yield "desk-start"
    for tab, ready in (("rounds", "#rounds .card"), ("users", "#users-list tr"), ("ratings", "#ratings-here dl")):
        page.click(f'.tabs a[href="#{tab}"]')
        page.wait_for_selector(ready)
        yield f"desk-{tab}"
    page.click('.tabs a[href="#rounds"]')
    page.fill("#new-id", "spring")
    page.click("#new-round button[type=submit]")
    page.locator("#new-round .problem").scroll_into_view_if_needed()
    yield "desk-refused"
    page.locator("#new-round .problem button").click()
    page.locator(".card", has_text="summer").get_by_role("button", name="Close and learn").click()
    page.wait_for_selector("dialog[open]")
    yield "desk-question"
    page.keyboard.press("Escape")


def log_in(page: Any, address: str, token: str, ready: str) -> None:
    """Open a page that asks for a token."""
    page.goto(address)
    if page.locator("#login").is_visible():
        page.fill("#token", token)
        page.click("#login button")
    page.wait_for_selector(ready)


def save(page: Any, path: Path) -> None:
    """The visible part of the page, with few colours: small enough for a repository."""
    from PIL import Image

    page.wait_for_load_state("networkidle")
    if path.stem.startswith("desk-refused"):
        page.locator("#new-round .problem").scroll_into_view_if_needed()
    else:
        page.evaluate("scrollTo(0, 0)")
    picture = Image.open(BytesIO(page.screenshot(full_page=WHOLE)))
    picture.convert("RGB").quantize(96, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main()
