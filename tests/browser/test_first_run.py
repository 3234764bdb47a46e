"""The guided first run in a real browser: from an empty server to a released series and a recommendation, without a terminal.

The operator works on the page alone, and one user answers every round on the page behind the own link; the devices of all others
take up the links that the operator's page shows, with the code of a real device.
"""

from __future__ import annotations

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
PATIENCE = 120_000


def fetch(url: str) -> bytes:
    with urllib.request.urlopen(url) as response:
        return bytes(response.read())


class Devices:
    """The devices of some users of a network.

    links: of their invitations, by user; each is taken up once, with a token that only the device knows.
    """

    def __init__(self, network: FederatedNetwork, links: dict[str, str]) -> None:
        self.network = network
        self.clients: dict[str, DeviceClient] = {}
        for user, link in links.items():
            address, code = read_invitation(link)
            token = new_token_for(code)
            accept_invitation(address, code, token)
            self.clients[user] = DeviceClient(address, token)

    def answer(self, url: str, round_id: str) -> None:
        """Every device answers a round."""
        round = Round.from_bytes(fetch(f"{url}/v1/rounds/{round_id}/parameters"))
        labels = LabelTable.from_bytes(fetch(f"{url}/v1/rounds/{round_id}/labels"), round.labels_digest)
        for user, client in self.clients.items():
            report = make_report(self.network.graph.neighbours(user), round, user, labels).to_bytes()
            assert client.send_report(round_id, report).is_success


def choose_file(page: Any, field: str, name: str, text: str) -> None:
    page.set_input_files(field, {"name": name, "mimeType": "text/plain", "buffer": text.encode()})


def enrol(page: Any, users: list[str]) -> dict[str, str]:
    """Enrol users in the page; the link of each."""
    expect(page.locator(f"{STEP} h3")).to_have_text("Enrol users")
    page.click(f"{STEP} .primary")
    choose_file(page, "#enrol-file", "users.txt", "\n".join(users))
    page.click("#enrol button[type=submit]")
    expect(page.locator("#enrol-status")).to_have_text(f"{N_USERS} enrolled.", timeout=PATIENCE)
    shown = page.locator("#invitation-list li")
    before = shown.count()
    page.click("#more-links")
    assert before < shown.count() < N_USERS
    with page.expect_download() as saved:
        page.click("#save-links")
    links = dict(line.split("\t") for line in saved.value.path().read_text().splitlines())
    assert links[shown.first.locator("h3").inner_text()] == shown.first.locator("input").input_value()
    return links


def upload_ratings(page: Any, plays: str) -> None:
    """Upload ratings and look at taste labels."""
    page.click(".tabs >> text=Start")
    expect(page.locator(f"{STEP} h3")).to_contain_text("Upload ratings")
    page.click(f"{STEP} .primary")
    choose_file(page, "#upload-file", "plays.tsv", f"user\titem\trating\n{plays}")
    page.click("#upload button[type=submit]")
    expect(page.locator("#preview-facts")).to_contain_text("are enrolled here")
    page.click("#preview-keep button[type=submit]")
    expect(page.locator("#ratings-here")).to_contain_text("most rated")
    page.click(".tabs >> text=Start")
    expect(page.locator(f"{STEP} h3")).to_contain_text("Look at taste labels")
    page.click(f"{STEP} .primary")
    page.fill("#taste-groups", "4")
    page.click("#taste-form button[type=submit]")
    expect(page.locator("#taste-found li")).to_have_count(4)
    assert "taste-1" in page.inner_text("#taste-found")


def rehearse(page: Any) -> None:
    page.click(".tabs >> text=Start")
    expect(page.locator(f"{STEP} h3")).to_have_text("Rehearse")
    page.click("#rehearse button[type=submit]")
    expect(page.locator("#rehearsed")).to_contain_text("by chance", timeout=PATIENCE)
    page.click(f"{STEP} >> text=Go on")


def open_series(page: Any, name: str, rounds: int) -> Any:
    """Create a series over taste labels and open it; its card."""
    expect(page.locator(f"{STEP} h3")).to_have_text("Create a round or a series")
    page.click(f"{STEP} .primary")
    page.fill("#series-name", name)
    page.fill("#series-epsilon", "4")
    page.fill("#series-rounds", str(rounds))
    page.select_option("#series-kind", "taste")
    page.fill("#series-groups", "4")
    page.click("#new-series button[type=submit]")
    card = page.locator(".card", has_text=name)
    card.get_by_role("button", name="Open").click()
    expect(page.locator("dialog")).to_contain_text(
        f"This asks {N_USERS} users. Each device that answers all {rounds} rounds spends epsilon 4 for each contact, for good."
    )
    page.locator("dialog button[value=yes]").click()
    expect(card.locator(".state")).to_have_text("running")
    return card


def answer_in_browser(device: Any, round_id: str, contacts: str, first: bool) -> None:
    """One user answers a round on the page behind the link; later rounds of a series were agreed to with the first."""
    device.reload()
    card = device.locator(f'[id="round-{round_id}"]')
    card.wait_for()
    choose_file(device, f'[id="file-{round_id}"]', "contacts.txt", contacts)
    card.get_by_role("button", name="Add noise").click()
    if first:
        expect(card).to_contain_text("4 privacy points in all")
        card.get_by_role("button", name="Send these").click()
    expect(card).to_contain_text("Sent", timeout=30_000)


def test_from_an_empty_server_to_a_released_series_and_a_recommendation(open_page):
    network = make_federated_network(N_USERS, (2, 2), mean_degree=12.0, n_servers=4, n_artists=80, random_state=2)
    users = list(network.graph.names)
    cold = users[0]  # a user without ratings, to whom something is recommended in the end
    plays = "".join(
        f"{users[row]}\t{network.artist_names[item]}\t{count}\n" for row, item, count in network.ratings.tolist() if row != 0
    )
    with run_aggregator() as aggregator, ThreadPoolExecutor(1) as elsewhere:
        page = open_page(aggregator.url + "/operator")
        page.fill("#token", aggregator.operator_token)
        page.click("#login button")
        links = enrol(page, users)
        assert set(links) == set(users)
        upload_ratings(page, plays)
        rehearse(page)
        card = open_series(page, "waves", 2)
        page.click(".tabs >> text=Start")
        expect(page.locator(f"{STEP} h3")).to_have_text("Invite users")

        device = open_page(links.pop(cold))
        devices = elsewhere.submit(Devices, network, links).result()
        contacts = "\n".join(network.graph.neighbours(cold))
        for number in (1, 2):
            elsewhere.submit(devices.answer, aggregator.url, f"waves.{number}").result()
            answer_in_browser(device, f"waves.{number}", contacts, first=number == 1)
            expect(page.locator("#guide-answers")).to_have_text(
                f"{N_USERS} of {N_USERS} users answered round {number} of 2 of waves.", timeout=30_000
            )
            page.click(".tabs >> text=Rounds")
            card.get_by_role("button", name="Close and go on" if number == 1 else "Close and learn").click()
            expect(page.locator("dialog")).to_contain_text("each of their devices spent epsilon 2 for each contact")
            page.locator("dialog button[value=yes]").click()
            if number == 1:
                expect(card).to_contain_text(f"0 of {N_USERS} users answered round 2", timeout=PATIENCE)
            page.click(".tabs >> text=Start")
        expect(page.locator("#guide-released a")).to_have_text("What came out of waves", timeout=PATIENCE)
        page.click("#guide-released a")
        expect(page.locator("h1")).to_have_text("Series waves")
        expect(page.locator("#state")).to_have_text("released")
        page.wait_for_selector("#communities-list li")
        expect(page.locator("#evidence-text")).to_contain_text("the evidence is")
        expect(page.locator("#quality-figure")).to_contain_text("for the most popular items", timeout=PATIENCE)

        device.reload()
        liked = device.locator('[id="result-waves.2"]').get_by_role("heading", name="You may like")
        liked.wait_for(timeout=30_000)
        recommended = device.locator('[id="result-waves.2"] ul.plain').last.locator("li b").all_inner_texts()
        assert len(recommended) == 10
        assert set(recommended) <= set(network.artist_names)
