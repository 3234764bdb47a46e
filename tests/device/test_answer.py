"""Answering: what is proposed, what is made once, and what is sent."""

from __future__ import annotations

from dataclasses import replace

import httpx
import pytest

from privact.device.answer import draw_slots, make_reports, propose
from privact.device.ledger.rules import Rules
from privact.errors import AggregatorError, LedgerError, RefusedError
from privact.protocol.bins import bin_of
from privact.protocol.labels import LabelTable
from privact.protocol.report import Report, report_length
from privact.protocol.round import Round

CONTACTS = ["bob@a.example", "cleo@b.example", "dora@c.example"]


def said(found):
    return [(each.round_id, each.outcome) for each in found[1]]


def refusals(found):
    return {each.notice.id: each.refusal for each in found[0] if each.refusal}


def test_an_open_round_is_answered_stored_and_charged(device, server):
    round = server.announce()
    found = device.answer(CONTACTS)
    assert [(each.cost, each.refusal) for each in found[0]] == [(1.0, "")]
    assert said(found) == [("spring", "accepted")]
    book = device.ledger.read()
    assert (book.spent, book.left) == (1, 9)
    Report.from_bytes(server.reports["spring"]).require(round)
    assert book.answers["spring"].report == server.reports["spring"]
    assert device.ledger.deliveries()["spring"][0] == "accepted"


def test_the_report_holds_the_counts_of_the_contacts(device, server):
    device.ledger.path.unlink()
    device.ledger.marker.unlink()
    device.ledger.create(Rules(budget=5000.0, cap=2000.0))
    round = server.announce(epsilon=2000.0)  # noise other than 0 once in e^1000
    device.answer([*CONTACTS, server.user, "@BOB@a.example"])
    expected = [0] * round.n_bins
    for contact in CONTACTS:
        expected[bin_of(contact, round)] += 1
    assert list(Report.from_bytes(server.reports["spring"]).vector) == expected


def test_a_second_ask_sends_the_same_bytes_and_costs_nothing(device, server):
    server.announce()
    device.answer(CONTACTS)
    first = server.reports.pop("spring")  # as if the aggregator had lost it
    found = device.answer(["quite@other.example"])
    assert [(each.cost, each.done) for each in found[0]] == [(0.0, False)]
    assert server.sent == [first, first]
    assert device.ledger.read().spent == 1


def test_what_the_aggregator_has_is_not_sent_again(device, server):
    server.announce()
    device.answer(CONTACTS)
    found = device.answer(CONTACTS)
    assert [each.done for each in found[0]] == [True]
    assert (found[1], len(server.sent)) == ([], 1)


def test_a_report_that_could_not_be_sent_is_sent_later_as_it_is(device, server):
    server.announce()
    device.answer([])  # to know the requests: me, the log, parameters, then the report
    requests = len(server.asked)
    server.reports.clear()
    server.announce(id="summer")
    server.asked.clear()
    real, failing = server.answer, True

    def answer(request):
        if request.method == "PUT" and failing:
            server.sent.append(request.read())
            raise httpx.ReadError("cut")
        return real(request)

    server.answer = answer
    assert dict(said(device.answer(CONTACTS))) == {"spring": "failed", "summer": "failed"}
    assert device.ledger.read().spent == 2
    failing = False
    assert dict(said(device.answer(CONTACTS))) == {"spring": "accepted", "summer": "accepted"}
    assert len({body for body in server.sent if body == server.reports["summer"]}) == 1
    assert len(set(server.sent)) == 2
    assert requests == 4


def test_all_open_rounds_are_answered_the_most_urgent_first_until_the_budget_is_spent(server, make_device):
    device = make_device(budget=2.0)
    server.announce(id="last", closes=server.now + 900)
    server.announce(id="first", closes=server.now + 300)
    server.announce(id="second", closes=server.now + 600, epsilon=0.5)
    found = device.answer(CONTACTS)
    assert [each.notice.id for each in found[0]] == ["first", "second", "last"]
    assert dict(said(found)) == {"first": "accepted", "second": "accepted"}
    assert "costs epsilon 1 but only 0.5 of the lifetime budget 2 is left" in refusals(found)["last"]
    assert device.ledger.read().left == 0.5


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"epsilon": 2.5}, "epsilon 2.5, above the 2 that this device allows"),
        ({"n_users": 99}, "99 users, fewer than the 100"),
        ({"opens": 10, "closes": 20}, "closed at 1970-01-01 00:00:20 UTC but the clock here says 2027-01-15"),
        ({"opens": 4_000_000_000, "closes": 4_000_000_001}, "opens at 2096-10-02"),
    ],
)
def test_a_round_that_breaks_the_rules_is_refused_with_the_reason(device, server, changes, reason):
    server.announce(**changes)
    server.takes = lambda name: True  # the aggregator would take it
    found = device.answer(CONTACTS)
    assert reason in refusals(found)["spring"]
    assert (server.sent, device.ledger.read().spent) == ([], 0)


def test_a_round_that_changed_after_the_answer_is_refused(device, server):
    round = server.announce()
    device.answer(CONTACTS)
    server.reports.clear()
    server.announce(seed=bytes(15) + b"\1")
    found = device.answer(CONTACTS)
    assert "changed after it was answered" in refusals(found)["spring"]
    assert round.digest().hex()[:16] in refusals(found)["spring"]
    assert (len(server.sent), device.ledger.read().spent) == (1, 1)


def test_other_bytes_than_the_announced_are_refused(device, server):
    round = server.announce()
    server.parameters["spring"] = replace(round, epsilon=0.5).to_bytes()
    assert "announced digest" in refusals(device.answer(CONTACTS))["spring"]
    server.rounds["spring"] = replace(round, id="autumn")
    server.parameters.clear()
    assert "calls itself 'autumn'" in refusals(device.answer(CONTACTS))["spring"]
    assert server.sent == []


def test_a_digest_published_elsewhere_is_held_against_the_announced_one(device, server):
    round = server.announce()
    found = device.answer(CONTACTS, only="spring", digest=bytes(32))
    assert "not the expected 00000000" in refusals(found)["spring"]
    assert server.sent == []
    assert said(device.answer(CONTACTS, only="spring", digest=round.digest())) == [("spring", "accepted")]


def test_only_the_named_round_is_answered(device, server):
    server.announce()
    server.announce(id="summer")
    assert said(device.answer(CONTACTS, only="summer")) == [("summer", "accepted")]
    with pytest.raises(RefusedError, match="announces no round 'autumn'"):
        device.answer(CONTACTS, only="autumn")


def test_a_named_round_that_the_aggregator_has_closed_is_refused_with_its_state(device, server):
    server.announce()
    server.states["spring"] = "learning"
    assert "takes no answer to round spring now: learning" in refusals(device.answer(CONTACTS, only="spring"))["spring"]
    assert device.answer(CONTACTS) == ([], [])


def test_someone_who_joins_late_answers_within_the_window_for_joiners(device, server):
    server.announce(joiner_seconds=500)
    server.late.add("spring")
    server.now += 1400
    found = device.answer(CONTACTS)
    assert [(each.outcome, each.late) for each in found[1]] == [("accepted", True)]


def test_the_window_for_joiners_ends_by_the_device_s_own_clock(device, server):
    server.announce(joiner_seconds=500)
    server.late.add("spring")
    server.now += 1500
    server.takes = lambda name: True
    assert "closed at" in refusals(device.answer(CONTACTS))["spring"]


def test_an_answer_that_the_ledger_does_not_know_stops_everything(device, server):
    server.announce()
    server.announce(id="summer")
    server.reports["spring"] = b"given by another device"
    with pytest.raises(LedgerError, match=r"an answer of ada@vinyl.example to round spring that this ledger does not know"):
        device.answer(CONTACTS)
    assert (server.sent, device.ledger.read().spent) == ([], 0)


def test_an_account_of_someone_else_is_not_used(device, server):
    device.account = replace(device.account, user="eve@vinyl.example")
    with pytest.raises(AggregatorError, match=r"takes this device for 'ada@vinyl.example'"):
        device.answer(CONTACTS)


def test_label_tables_are_fetched_whole_and_nothing_in_a_request_depends_on_contacts(device, server, make_device):
    table = LabelTable.from_labels({contact: i % 3 for i, contact in enumerate(CONTACTS)}, 3, key=bytes(16))
    round = Round(
        id="labelled", epsilon=1.0, n_bins=3, n_users=500, bins="labels", labels_digest=table.digest(),
        opens=server.now - 1, closes=server.now + 100,
    )  # fmt: skip
    server.announce(round)
    server.tables["labelled"] = table
    device.answer(CONTACTS)
    asked = list(server.asked)
    assert asked == ["GET /v1/me", "GET /v1/log", "GET /v1/rounds/labelled/parameters", "GET /v1/rounds/labelled/labels",
                     "PUT /v1/rounds/labelled/report"]  # fmt: skip
    headers = [dict(header) for header in server.headers]
    server.reports.clear(), server.asked.clear(), server.headers.clear()
    make_device("lonely").answer([])
    assert server.asked == asked
    assert [dict(header) for header in server.headers] == headers
    assert len(set(map(len, server.sent))) == 1


def test_a_label_table_that_is_not_the_round_s_is_refused_before_anything_is_spent(device, server):
    table = LabelTable.from_labels({"bob": 0}, 3, key=bytes(16))
    server.announce(
        Round(id="r", epsilon=1.0, n_bins=3, n_users=500, bins="labels", labels_digest=bytes(32), opens=0, closes=2**32)
    )
    server.tables["r"] = table
    server.announce()
    found = device.answer(CONTACTS)
    assert "does not have the round's digest" in refusals(found)["r"]
    assert said(found) == [("spring", "accepted")]
    assert device.ledger.read().spent == 1


def test_a_budget_that_another_process_spent_meanwhile_refuses_one_round_and_not_the_others(server, make_device):
    device = make_device(budget=1.5)
    server.announce(closes=server.now + 100)
    server.announce(id="cheap", epsilon=0.5)
    with device.connection() as aggregator:
        proposals = propose(device.account, aggregator, clock=lambda: server.now)
    device.answer(CONTACTS, only="cheap")
    server.announce(id="quick", epsilon=0.75)
    device.answer(CONTACTS, only="quick")
    made, refused = make_reports(device.account, draw_slots(proposals, asked=0.0, window=0.0), CONTACTS, clock=lambda: server.now)
    assert [(each.round_id, each.outcome) for each in refused] == [("spring", "refused")]
    assert [stored.round.id for _, stored in made] == ["cheap"]


def test_reports_wait_for_their_slots_in_order(device, server):
    for name in ("spring", "summer", "autumn"):
        server.announce(id=name)
    device.answer(CONTACTS, window=600.0)
    slots = sorted(stored.send_at / 1000 - server.now for stored in device.ledger.read().answers.values())
    assert device.slept == pytest.approx(slots)
    assert all(120 <= slot <= 600 for slot in slots)


def test_a_conflict_and_a_closed_round_are_told_and_stay_charged(device, server):
    server.announce()
    server.announce(id="summer")
    real = server.take

    def take(name, body):
        if name == "spring":
            server.reports["spring"] = b"from elsewhere, a moment ago"
        else:
            server.states["summer"] = "closed"
        return real(name, body)

    server.take = take
    found = device.answer(CONTACTS)
    assert dict(said(found)) == {"spring": "conflict", "summer": "closed"}
    assert all(each.reason for each in found[1])
    assert device.ledger.read().spent == 2
    assert {name: told[0] for name, told in device.ledger.deliveries().items()} == dict(said(found))


def test_every_report_of_a_round_has_one_length(device, server, make_device):
    round = server.announce()
    device.answer([])
    server.reports.clear()
    make_device("popular").answer([f"user{i}@x.example" for i in range(5000)])
    assert {len(body) for body in server.sent} == {report_length(round.n_bins)}
    assert len(server.sent) == 2
