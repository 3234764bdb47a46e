"""Promise 7: exactly once under replay and reordering, and late writes are refused.

400 users, each report sent up to 6 times in random order from 8 connections, some with other bytes; and a round that closes
under fire: what was acknowledged before the close is what is stored after it.
"""

from __future__ import annotations

import random
import threading

from privact.protocol.report import Report

COPIES, USERS, SENDERS = 6, 400, 8


def send(server, name, token, body):
    return server.ask("PUT", f"/v1/rounds/{name}/report", body, token)


def in_parallel(work, items):
    """Do the work for all items from several threads; gives each item with its outcome."""
    done, lock, items = [], threading.Lock(), list(items)

    def run():
        while True:
            with lock:
                if not items:
                    return
                item = items.pop()
            outcome = work(*item)
            with lock:
                done.append((item, outcome))

    threads = [threading.Thread(target=run) for _ in range(SENDERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return done


def test_replays_in_any_order_leave_one_report_each_and_the_first_wins(aggregator):
    server = aggregator(minimum_users=2, report_rate=0)
    server.start()
    tokens = server.enrol([f"user{number}" for number in range(USERS)])
    round_ = server.open_round("spring", n_bins=3)
    variants = {
        user: [Report.bind(round_, user, (number, variant, 0)).to_bytes() for variant in range(2)]
        for number, user in enumerate(tokens)
    }
    draw = random.Random(7)
    deliveries = [(user, draw.randrange(2)) for user in tokens for _ in range(COPIES)]
    draw.shuffle(deliveries)
    done = in_parallel(lambda user, variant: send(server, "spring", tokens[user], variants[user][variant])[0], deliveries)
    for user in tokens:
        outcomes = [(variant, status) for (name, variant), status in done if name == user]
        first = [variant for variant, status in outcomes if status == 201]
        assert len(first) == 1  # one was new
        assert all(status == (200 if variant == first[0] else 409) for variant, status in outcomes if status != 201)
        assert server.ask("GET", "/v1/rounds/spring/report", token=tokens[user]) == (200, variants[user][first[0]])
    assert server.operate("GET", "/v1/rounds/spring")["reports"] == USERS


def test_a_report_of_another_round_or_another_user_is_not_taken(aggregator):
    server = aggregator(minimum_users=2)
    server.start()
    tokens = server.enrol(["ann", "bob"])
    one, other = server.open_round("one", n_bins=2), server.open_round("other", n_bins=2)
    replayed = Report.bind(one, "ann", (1, 2)).to_bytes()
    assert send(server, "other", tokens["ann"], replayed)[0] == 400
    assert send(server, "one", tokens["bob"], replayed)[0] == 400
    assert send(server, "one", tokens["ann"], replayed)[0] == 201
    assert send(server, "other", tokens["ann"], Report.bind(other, "ann", (1, 2)).to_bytes())[0] == 201


def test_nothing_is_written_after_the_close_and_nothing_acknowledged_before_it_is_missing(aggregator):
    server = aggregator(minimum_users=2, report_rate=0)
    server.start()
    tokens = server.enrol([f"user{number}" for number in range(2 * USERS)])
    round_ = server.open_round("brief", n_bins=3)
    sent = {user: Report.bind(round_, user, (1, 2, 3)).to_bytes() for user in tokens}
    deliveries: list[tuple[str | None]] = [(user,) for user in tokens]
    deliveries.insert(USERS, (None,))  # the operator closes in the middle

    def deliver(user):
        if user is None:
            return server.operate("POST", "/v1/rounds/brief/close?force=true")["reports"]
        return send(server, "brief", tokens[user], sent[user])[0]

    done = in_parallel(deliver, deliveries)
    statuses = {user: status for (user,), status in done if user is not None}
    assert set(statuses.values()) == {201, 410}
    accepted = [user for user, status in statuses.items() if status == 201]
    assert server.operate("GET", "/v1/rounds/brief")["reports"] == len(accepted)
    for user, status in statuses.items():
        again, _ = send(server, "brief", tokens[user], sent[user])
        assert again == (200 if status == 201 else 410)
