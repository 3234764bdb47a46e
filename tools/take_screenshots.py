"""Take the screenshots of docs/images: every page at 1280 and 390 pixels, light and dark, empty, busy and failed.

    python tools/take_screenshots.py [FOLDER]      # by default docs/images/pages

Needs Chromium, Playwright and Pillow. An aggregator is started for it, with made-up users and devices.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

from privact.protocol.addresses import aggregator_address
from privact.simulate.federated_network import FederatedNetwork, make_federated_network
from privact.simulate.http_devices import Operator, make_reports, send_reports
from privact.simulate.local_aggregator import LocalAggregator, run_aggregator

SIZES = {"wide": (1280, 860), "phone": (390, 844)}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
N_USERS = 300


def main() -> None:
    """Play an aggregator into every state, and take its pictures."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/images/pages")
    folder.mkdir(parents=True, exist_ok=True)
    with run_aggregator() as empty, run_aggregator() as busy, ThreadPoolExecutor(1) as elsewhere:
        token = elsewhere.submit(play, busy).result()  # the browser has this thread's event loop
        photograph(folder, empty, busy, token)


def play(aggregator: LocalAggregator) -> str:
    """A released round with labels and ratings, one that is open, one that failed, a draft; the token of a user."""
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
    operator.ask("POST", "/v1/rounds", {"id": "summer", "epsilon": 1.0, "closes": int(time.time()) + 9 * 86400})
    answer(operator, aggregator, network, tokens, "summer", 170)
    operator.ask("POST", "/v1/rounds", {"id": "autumn", "epsilon": 1.0})
    return tokens[network.graph.names[0]]


def answer(
    operator: Operator, aggregator: LocalAggregator, network: FederatedNetwork, tokens: dict[str, str], id: str, n: int
) -> None:
    """Open a round and answer it as the first n devices."""
    operator.ask("POST", f"/v1/rounds/{id}/open")
    round = operator.parameters(id)
    reports = make_reports(network.graph, network.graph.names, round, operator.labels(round))[:n]
    send_reports(aggregator_address(aggregator.url), id, [tokens[user] for user in network.graph.names[:n]], reports)


def photograph(folder: Path, empty: LocalAggregator, busy: LocalAggregator, token: str) -> None:
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
            for name in visit(page, empty, busy, token):
                save(page, folder / f"{name}-{size}-{scheme}.png")
            context.close()
        browser.close()


def visit(page: Any, empty: LocalAggregator, busy: LocalAggregator, token: str) -> Iterator[str]:
    """Go through the pages; the name of what is shown."""
    page.goto(empty.url)
    page.wait_for_selector("#empty:not([hidden])")
    yield "rounds-empty"
    log_in(page, empty.url + "/operator", empty.operator_token, "#steps > li.now")
    yield "desk-empty"
    page.goto(busy.url)
    page.wait_for_selector(".card")
    yield "rounds"
    for id, ready in (("spring", "#communities-list li"), ("summer", "#answers-chart svg"), ("mistake", ".failure")):
        page.goto(f"{busy.url}/rounds/{id}")
        page.wait_for_selector(ready)
        yield f"round-{ {'spring': 'released', 'summer': 'open', 'mistake': 'failed'}[id] }"
    page.goto(f"{busy.url}/rounds/spring/tree")
    page.wait_for_selector(".tile")
    page.click("#cut button")
    page.wait_for_selector("#cut-clusters li")
    yield "explorer"
    page.goto(f"{busy.url}/nothing/here")
    yield "missing"
    log_in(page, busy.url + "/me", token, "#reports section")
    yield "my-reports"
    log_in(page, busy.url + "/operator", busy.operator_token, "#steps > li.now")
    yield "desk-start"
    for tab, ready in (("rounds", "#rounds .card"), ("users", "#users-list tr"), ("ratings", "#ratings-here dl")):
        page.click(f'.tabs a[href="#{tab}"]')
        page.wait_for_selector(ready)
        yield f"desk-{tab}"
    page.click('.tabs a[href="#rounds"]')
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

    page.evaluate("scrollTo(0, 0)")
    picture = Image.open(BytesIO(page.screenshot()))
    picture.convert("RGB").quantize(96, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main()
