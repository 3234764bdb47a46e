"""Promise 9: a released artefact holds no edge.

Two networks of 100 users that differ in one edge, whose devices happen to send the same reports: the releases are the same, byte
by byte. And whatever is inside a release, in every format, is on the list of what may be there.
"""

from __future__ import annotations

import json
import shutil
import time

import numpy as np
import pytest

from privact.audit.leakage import inspect_release
from privact.device.degrees import degree_vector
from privact.protocol.report import Report
from privact.tree.hct import HierarchicalClusterTree

USERS = [f"user{number}@a.example" for number in range(100)]
RING = {(number, (number + step) % 100) for number in range(100) for step in (1, 2, 3)}
EDGE = (0, 50)


def exact_counts(edges, round_):
    """What each user's device counts."""
    contacts = [[] for _ in USERS]
    for one, other in edges:
        contacts[one].append(USERS[other])
        contacts[other].append(USERS[one])
    return np.array([degree_vector(theirs, round_, owner=user) for user, theirs in zip(USERS, contacts, strict=True)])


def released(server, round_, tokens, reports):
    """Send reports, close the round, and wait for its release."""
    for user, vector in zip(USERS, reports.tolist(), strict=True):
        body = Report.bind(round_, user, vector).to_bytes()
        assert server.ask("PUT", "/v1/rounds/spring/report", body, tokens[user])[0] == 201
    server.operate("POST", "/v1/rounds/spring/close")
    end = time.monotonic() + 180
    while (found := server.ask("GET", "/v1/rounds/spring")[1])["state"] != "released":
        assert found["state"] != "failed", found["failure"]
        assert time.monotonic() < end, f"the round is still {found}"
        time.sleep(0.02)
    return (server.folder / "releases" / "spring.hct").read_bytes()


@pytest.fixture
def twins(aggregator):
    """Two aggregators with the same users, tokens and open round."""
    one, other = (aggregator(report_rate=0, operator_rate=0) for _ in range(2))
    one.start()
    tokens = one.enrol(USERS)
    round_ = one.open_round("spring", n_bins=3)
    one.stop()
    for kept in ("privact.sqlite3", "signing-key"):  # rounds are signed: the key moves with the database
        shutil.copy(one.folder / kept, other.folder)
    one.start()
    other.start()
    return one, other, round_, tokens


def test_the_same_reports_of_a_graph_with_one_more_edge_are_the_same_release(twins):
    one, other, round_, tokens = twins
    without, with_edge = exact_counts(RING, round_), exact_counts(RING | {EDGE}, round_)
    assert np.abs(with_edge - without).sum() == 2  # both ends count it
    noise = np.random.default_rng(9).integers(-6, 7, without.shape)
    other_noise = noise + without - with_edge  # noise is of every size: this may have been drawn as well
    release = released(one, round_, tokens, without + noise)
    assert released(other, round_, tokens, with_edge + other_noise) == release

    assert [field for field in inspect_release(one.folder / "releases" / "spring.hct") if not field.allowed] == []
    tree = HierarchicalClusterTree.load(one.folder / "releases" / "spring.hct")
    for format, text in (("newick", tree.to_newick()), ("json", tree.to_json())):  # nothing that is not in the release
        status, content = one.ask("GET", f"/v1/rounds/spring/tree/download?format={format}")
        assert status == 200
        assert content == (json.loads(text) if format == "json" else f"{text}\n".encode())
