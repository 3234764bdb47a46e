"""Promise 12: the same reports and seed are the same tree bytes.

100 users answer one round that three aggregators share: in another order of arrival, with the server and its learning process
killed in the middle, and on PostgreSQL instead of SQLite. All release the same file, and so does learning it in another
process; another seed or one other report does not.
"""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import create_engine, insert, select

from privact.aggregator.domain.round_evidence import stored_reports
from privact.aggregator.jobs.learning import learn_stored_round
from privact.aggregator.storage.database import Store
from privact.aggregator.storage.schema import operators, rounds, users
from privact.aggregator.storage.stored_reports import read_all, read_round
from privact.protocol.report import Report
from privact.tree.hct import HierarchicalClusterTree

USERS = [f"user{number}@server{number % 7}.example" for number in range(100)]
VECTORS = np.random.default_rng(12).poisson(np.linspace(0.5, 9.0, 100)[:, None], (100, 4)).tolist()
FINISH = 180.0  # seconds; learning takes a few


@pytest.fixture
def shared_round(aggregator):
    """Make aggregators that share one open round of 100 users: shared_round() gives (aggregator, round, tokens)."""
    first = aggregator(report_rate=0, operator_rate=0)
    first.start()
    tokens = first.enrol(USERS)
    round_ = first.open_round("spring", n_bins=4, search_seed=3)
    first.stop()

    def make(url: str | None = None):
        other = aggregator(url, report_rate=0, operator_rate=0)
        shutil.copy(first.folder / "signing-key", other.folder)  # rounds are signed: the key moves with the database
        if url is None:
            shutil.copy(first.folder / "privact.sqlite3", other.folder)
        else:
            copy_round(first.database, url)
        return other, round_, tokens

    return make


def copy_round(source: str, target: str) -> None:
    """Copy users, operator and round to an empty database."""
    Store.open(target).close()
    there, here = create_engine(source), Store(target)
    with there.connect() as old, here.write() as new:
        for table in (users, operators, rounds):
            new.execute(insert(table), [dict(row) for row in old.execute(select(table)).mappings()])
    there.dispose()
    here.close()


def answer(server, round_, tokens, names, vectors=VECTORS):
    """Users send their reports, in the order of their names here; then the operator closes the round."""
    for name in names:
        body = Report.bind(round_, name, vectors[USERS.index(name)]).to_bytes()
        assert server.ask("PUT", "/v1/rounds/spring/report", body, tokens[name])[0] == 201
    server.operate("POST", "/v1/rounds/spring/close")


def wait_for(server, reached):
    """Wait until the round is as wanted."""
    end = time.monotonic() + FINISH
    while not reached(found := server.ask("GET", "/v1/rounds/spring")[1]):
        assert found["state"] != "failed", found["failure"]
        assert time.monotonic() < end, f"the round is still {found}"
        time.sleep(0.02)


def released(server) -> bytes:
    """The bytes of the release, once it is there."""
    wait_for(server, lambda found: found["state"] == "released")
    status, content = server.ask("GET", "/v1/rounds/spring/tree/download")
    assert (status, content) == (200, (server.folder / "releases" / "spring.hct").read_bytes())
    return content


def children(pid: int) -> list[int]:
    """The processes that a process has started, where the system tells."""
    lists = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for one in lists for child in one.read_text().split()]


def runs(pid: int) -> bool:
    """Whether a process is there; one that has ended and waits to be counted is not."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def learned_here(database: str, seed: int = 3, hostile: bool = False) -> HierarchicalClusterTree:
    """The tree that this process learns from the reports in a database."""
    stored, (names, reports) = read_round(database, "spring"), read_all(database, "spring")
    reports[0, 0] += 40 * hostile
    table = stored_reports(database, stored, names, reports).table
    return learn_stored_round(database, stored._replace(search_seed=seed), table).tree


def test_order_of_arrival_a_restart_and_the_database_change_no_byte(shared_round, postgres_url, tmp_path):
    calm, round_, tokens = shared_round()
    calm.start()
    answer(calm, round_, tokens, USERS)
    tree = released(calm)
    calm.stop()
    learned_here(calm.database).save(tmp_path / "here.hct")
    assert (tmp_path / "here.hct").read_bytes() == tree
    assert learned_here(calm.database, hostile=True) != HierarchicalClusterTree.load(tmp_path / "here.hct")
    learned_here(calm.database, seed=4).save(tmp_path / "seed.hct")
    assert (tmp_path / "seed.hct").read_bytes() != tree  # at least because it names its seed

    killed, round_, tokens = shared_round()
    killed.start()
    answer(killed, round_, tokens, USERS[::-1])
    wait_for(killed, lambda found: found["state"] == "learning" and found["progress"]["stage"] == "denoising reports")
    workers = children(killed.process.pid)
    killed.kill()
    assert not (killed.folder / "releases" / "spring.hct").exists()
    end = time.monotonic() + FINISH
    while any(runs(pid) for pid in workers):
        assert time.monotonic() < end, "the learning process outlives its server"
        time.sleep(0.02)
    killed.start()
    assert released(killed) == tree
    assert os.listdir(killed.folder / "releases") == ["spring.hct"]
    killed.stop()

    elsewhere, round_, tokens = shared_round(postgres_url)
    elsewhere.start()
    answer(elsewhere, round_, tokens, USERS[50:] + USERS[:50])
    assert released(elsewhere) == tree
