"""The guided first run in a real browser: from an empty server to a released round and a recommendation, without a terminal.

The operator works on the page alone; devices take up the links that the page shows, with the code of a real device.
"""

from __future__ import annotations

import json
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from playwright.sync_api import expect

from privact.client.device_client import DeviceClient
from privact.client.joining import accept_invitation
from privact.device.noise import make_report
from privact.protocol.invitation_links import new_token_for, read_invitation
from privact.protocol.labels import LabelTable
from privact.protocol.round import Round
from privact.simulate.federated_network import FederatedNetwork, make_federated_network
from privact.simulate.local_aggregator import run_aggregator

N_USERS = 120
STEP = "#steps > li.now"


def play_devices(network: FederatedNetwork, links: dict[str, str], url: str, round_id: str) -> dict[str, str]:
    """Every device takes up its invitation and answers the round; the token that each has drawn."""
    round = Round.from_bytes(fetch(f"{url}/v1/rounds/{round_id}/parameters"))
    labels = LabelTable.from_bytes(fetch(f"{url}/v1/rounds/{round_id}/labels"), round.labels_digest)
    tokens = {}
    for user, link in links.items():
        address, code = read_invitation(link)
        token = tokens[user] = new_token_for(code)
        accept_invitation(address, code, token)
        report = make_report(network.graph.neighbours(user), round, user, labels).to_bytes()
        assert DeviceClient(address, token).send_report(round_id, report).is_success
    return tokens


def fetch(url: str, token: str = "") -> bytes:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as response:
        return bytes(response.read())


def choose_file(page: Any, field: str, name: str, text: str) -> None:
    page.set_input_files(field, {"name": name, "mimeType": "text/plain", "buffer": text.encode()})


def test_from_an_empty_server_to_a_recommendation(open_page):
    network = make_federated_network(N_USERS, (2, 2), mean_degree=12.0, n_servers=4, n_artists=80, random_state=2)
    users = network.graph.names
    cold = users[0]  # a user without ratings, for whom something is recommended in the end
    plays = "".join(
        f"{users[row]}\t{network.artist_names[item]}\t{count}\n" for row, item, count in network.ratings.tolist() if row != 0
    )
    with run_aggregator() as aggregator, ThreadPoolExecutor(1) as elsewhere:
        page = open_page(aggregator.url + "/operator")
        page.fill("#token", aggregator.operator_token)
        page.click("#login button")
        expect(page.locator(f"{STEP} h3")).to_have_text("Enrol users")
        page.click(f"{STEP} .primary")
        choose_file(page, "#enrol-file", "users.txt", "\n".join(users))
        page.click("#enrol button[type=submit]")
        expect(page.locator("#enrol-status")).to_have_text(f"{N_USERS} enrolled.", timeout=60_000)
        shown = page.locator("#invitation-list li").evaluate_all(
            "cards => cards.map(card => [card.querySelector('h3').textContent, card.querySelector('input').value])"
        )
        links = dict(shown)
        assert set(links) == set(users)

        page.click(".tabs >> text=Start")
        expect(page.locator(f"{STEP} h3")).to_contain_text("Upload ratings")
        page.click(f"{STEP} .primary")
        choose_file(page, "#upload-file", "plays.tsv", f"user\titem\trating\n{plays}")
        page.click("#upload button[type=submit]")
        expect(page.locator("#preview-facts")).to_contain_text("are enrolled here")
        page.click("#preview-keep button[type=submit]")
        expect(page.locator("#ratings-here")).to_contain_text("most rated")

        page.click(".tabs >> text=Start")
        expect(page.locator(f"{STEP} h3")).to_have_text("Rehearse")
        page.click("#rehearse button[type=submit]")
        expect(page.locator("#rehearsed")).to_contain_text("by chance", timeout=120_000)
        page.click(f"{STEP} >> text=Go on")

        expect(page.locator(f"{STEP} h3")).to_have_text("Create a round or a series")
        page.click(f"{STEP} .primary")
        page.fill("#new-id", "spring")
        page.fill("#new-epsilon", "4")
        page.select_option("#new-kind", "taste")
        page.click("#new-round button[type=submit]")
        card = page.locator(".card", has_text="spring")
        card.get_by_role("button", name="Open").click()
        expect(page.locator("dialog")).to_contain_text(f"This asks {N_USERS} users")
        page.locator("dialog button[value=yes]").click()
        expect(card.locator(".state")).to_have_text("open")
        page.click(".tabs >> text=Start")
        expect(page.locator(f"{STEP} h3")).to_have_text("Invite users")

        tokens = elsewhere.submit(play_devices, network, links, aggregator.url, "spring").result()
        page.click(".tabs >> text=Rounds")
        expect(card).to_contain_text(f"{N_USERS} of {N_USERS}", timeout=30_000)
        card.get_by_role("button", name="Close and learn").click()
        page.locator("dialog button[value=yes]").click()
        expect(card.locator(".state")).to_have_text("released", timeout=120_000)
        page.click(".tabs >> text=Start")
        page.click(f"{STEP} .primary")  # what came out
        page.wait_for_selector("#communities-list li")
        assert "taste-" in page.inner_text("#communities-list")
        expect(page.locator("#quality-figure")).to_contain_text("for the most popular items", timeout=60_000)
        listed = json.loads(fetch(f"{aggregator.url}/v1/rounds/spring/recommendations", tokens[cold]))
        assert len(listed["items"]) == 10
