"""A real Dask cluster of processes: the same bytes as in this process, whatever happens to its workers."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from privact.errors import InputError, PrivaCTError
from privact.learn.evidence.count_posterior import CountPosterior
from privact.learn.limits import Limits
from privact.learn.scale import dask_engine
from privact.learn.scale import population as rows
from privact.learn.scale.balanced_partition import learn_balanced_in_parts
from privact.learn.scale.dask_engine import engine_of, one_line_errors
from privact.learn.scale.engines import open_engine
from privact.learn.scale.partition import learn_in_parts
from privact.learn.scale.population import EmbeddedRows
from privact.learn.scale.task_runner import run
from privact.progress import ignore_progress

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

N_USERS = 3_000
SMALL_PARTS = Limits(part=300, routed=500, summed=500)
"""Many tasks although users are few."""


@pytest.fixture(scope="module")
def reports():
    rng = np.random.default_rng(0)
    counts = rng.poisson(np.outer(6.0 * rng.pareto(1.6, N_USERS) + 1.0, np.full(5, 0.2)))
    return (counts + rng.geometric(0.4, counts.shape) - rng.geometric(0.4, counts.shape)).astype(np.int32)


@pytest.fixture(scope="module")
def users(reports):
    return EmbeddedRows(reports, CountPosterior.fit(reports, 0.5, equal_bins=True))


@pytest.fixture(scope="module")
def expected(users):
    return grown(users)


def grown(users, engine=None, progress=ignore_progress):
    """The bytes of the tree."""
    options = {} if engine is None else {"engine": engine}
    found = learn_in_parts(users, np.random.default_rng(1), progress, limits=SMALL_PARTS, **options)
    return found.left.tobytes() + found.right.tobytes()


def test_under_the_balance_floor_two_workers_give_the_same_bytes(users, tmp_path):
    def learn(**options):
        found = learn_balanced_in_parts(users, 0.04, np.random.default_rng(1), ignore_progress, limits=SMALL_PARTS, **options)
        return found.left.tobytes() + found.right.tobytes()

    with open_engine(cluster="local:2", scratch=tmp_path) as engine:
        assert learn(engine=engine) == learn()


def start(scratch, n_workers, **options):
    return distributed.LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        local_directory=str(scratch),
        silence_logs=logging.CRITICAL,
        **options,
    )


def pids(client):
    return list(client.run(os.getpid).values())


def test_two_workers_give_the_same_bytes_and_leave_nothing(users, expected, tmp_path):
    told = []
    with open_engine(cluster="local:2", scratch=tmp_path) as engine:
        assert (engine.workers, engine.in_process) == (2, False)
        assert engine.folder is not None
        assert grown(users, engine, lambda *what: told.append(what)) == expected
    learned = [done for stage, done, _ in told if stage == "learning parts"]
    assert learned == sorted(learned)
    assert learned[-1] == N_USERS
    assert len(learned) > 10  # progress came part by part
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """A cluster of two workers, each with a limit on its memory: room for itself and a part."""
    with start(tmp_path_factory.mktemp("workers"), 2, memory_limit="700MB") as cluster, distributed.Client(cluster) as client:
        yield client


def test_workers_with_a_memory_limit_keep_within_it(client, users, expected, tmp_path):
    before = pids(client)
    assert grown(users, engine_of(client, tmp_path)) == expected
    assert pids(client) == before  # nobody had to be restarted


def test_users_who_cannot_be_told_apart_are_split_all_the_same(client, tmp_path):
    same = np.full((1_500, 3), 7, np.int32)
    users = EmbeddedRows(same, CountPosterior.fit(same, 0.5, equal_bins=True))
    assert grown(users, engine_of(client, tmp_path)) == grown(users)


def test_a_worker_that_is_killed_in_the_middle_changes_nothing(client, users, expected, tmp_path):
    """The scheduler gives its tasks to another, and its nanny starts a new worker."""
    before, killed = pids(client), []

    def kill_once(stage, done, total):
        if stage == "learning parts" and done > 500 and not killed:
            killed.append(before[0])
            os.kill(before[0], signal.SIGKILL)

    assert grown(users, engine_of(client, tmp_path), kill_once) == expected
    client.wait_for_workers(2, timeout=120)
    assert killed[0] not in pids(client)


def test_workers_that_see_no_file_of_ours_get_their_rows_with_each_task(client, users, expected, tmp_path, monkeypatch):
    """As on a cluster without a shared folder: also there one worker dies, with all data it was sent."""
    sent, killed = [], []
    take = rows.RowDelivery.some

    def watched(self, places):
        found = take(self, places)
        sent.append(found.nbytes)
        return found

    monkeypatch.setattr(rows.RowDelivery, "some", watched)
    monkeypatch.setattr(dask_engine, "can_read", never)
    client.wait_for_workers(2, timeout=120)
    engine = engine_of(client, tmp_path)
    assert engine.folder is None

    def kill_once(stage, done, total):
        if stage == "learning parts" and done > 500 and not killed:
            killed.append(pids(client)[0])
            os.kill(killed[0], signal.SIGKILL)

    assert grown(users, engine, kill_once) == expected
    assert killed
    assert max(sent) <= users.rows.nbytes / 2  # a sample is at most half of a group, and a part far less
    assert list(tmp_path.iterdir()) == []


def never(path):
    return False


def test_a_scheduler_that_is_already_there_is_used(client, users, expected, tmp_path):
    client.wait_for_workers(2, timeout=120)
    with open_engine(cluster=client.scheduler.address, scratch=tmp_path) as engine:
        assert engine.workers == 2
        assert grown(users, engine) == expected
    assert list(tmp_path.iterdir()) == []


def take_memory(_value):
    hoard = []
    while True:
        hoard.append(np.ones(2**22))
        time.sleep(0.01)


def test_a_task_that_no_worker_has_memory_for_is_given_up_in_one_line(tmp_path):
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        start(tmp_path, 1, memory_limit="400MB") as cluster,
        distributed.Client(cluster) as client,
        pytest.raises(PrivaCTError, match=r"workers died again and again.*more memory") as caught,
        one_line_errors(),
    ):
        run(engine_of(client, tmp_path), take_memory, [(1,)], lambda number: None)
    assert "\n" not in str(caught.value)


def test_a_scheduler_that_is_not_there_is_told_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(dask_engine, "PATIENCE", 1)
    with (
        pytest.raises(InputError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9") as caught,
        open_engine(cluster="tcp://127.0.0.1:9", scratch=tmp_path),
    ):
        pass
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


PROGRAM = """
import sys
import numpy as np
from privact.learn.limits import Limits
from privact.learn.scale.engines import open_engine
from privact.learn.scale.partition import learn_in_parts
from privact.tree.embedding import Embedding

if __name__ == "__main__":
    vectors = np.random.default_rng(0).integers(0, 40, (20_000, 3))
    with open_engine(cluster="local:2", scratch=sys.argv[1]) as engine:
        def show(stage, done, total):
            if stage == "learning parts":
                print(done, flush=True)
        learn_in_parts(Embedding.from_counts(vectors), np.random.default_rng(0), show, engine, limits=Limits(part=300))
"""


def test_an_interrupt_cancels_the_tasks_and_leaves_nothing(tmp_path):
    program, scratch = tmp_path / "program.py", tmp_path / "scratch"
    program.write_text(PROGRAM)
    scratch.mkdir()
    started = subprocess.Popen(
        [sys.executable, program, scratch], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    started.stdout.readline()
    started.stdout.readline()  # parts are being learned
    os.kill(started.pid, signal.SIGINT)
    _, errors = started.communicate(timeout=120)
    assert started.returncode != 0
    assert "KeyboardInterrupt" in errors
    assert list(scratch.iterdir()) == []
    for _ in range(100):
        stats = [path.read_text().rsplit(")", 1)[1].split() for path in Path("/proc").glob("[0-9]*/stat") if path.exists()]
        if not any(int(fields[3]) == started.pid and fields[0] != "Z" for fields in stats):
            return
        time.sleep(0.1)
    pytest.fail("a process of the cluster is still there")
