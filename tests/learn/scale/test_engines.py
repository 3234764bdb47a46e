from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Future
from pathlib import Path

import pytest

from privact.errors import InputError, PrivaCTError
from privact.learn.scale.engines import open_engine
from privact.learn.scale.task_runner import Engine, InProcess, read_shared, run


def double(value):
    return 2 * value


def doubled_share(value):
    return 2 * read_shared(value)["number"]


def die(_value):
    os.kill(os.getpid(), signal.SIGKILL)


class Slow(InProcess):
    """Finishes tasks in the order in which it is told to, or never."""

    def __init__(self, order):
        self.order = order
        self.given = []

    def submit(self, fn, /, *args):
        future = Future()
        self.given.append((future, fn, args))
        if len(self.given) == len(self.order):
            for place in self.order:
                done, task, arguments = self.given[place]
                done.set_result(task(*arguments))
        return future


@pytest.mark.parametrize("workers", [None, 1])
def test_one_worker_is_this_process(workers):
    with open_engine(workers) as engine:
        assert engine.in_process
        assert run(engine, lambda _: os.getpid(), [(1,), (2,)], lambda number: None) == [os.getpid()] * 2


def test_results_come_in_the_order_of_calls_whatever_was_done_first():
    engine = Engine(Slow([2, 0, 3, 1]), 1, None, False, lambda value: value)
    told = []
    assert run(engine, double, [(1,), (2,), (3,), (4,)], told.append) == [2, 4, 6, 8]
    assert sorted(told) == [0, 1, 2, 3]


def die_once(number, marker):
    if number == 2 and not os.path.exists(marker):
        open(marker, "w").close()
        os._exit(9)
    return 2 * number


def test_calls_are_read_as_there_is_room():
    """Arguments may be large: only a few wait at a time."""
    read = []

    def calls():
        for number in range(50):
            read.append(number)
            yield (number,)

    with open_engine() as engine:
        run(engine, double, calls(), lambda number: None if read[-1] <= number + 1 else pytest.fail("read ahead"))
    assert len(read) == 50


def test_a_failure_cancels_what_waits():
    class Failing(Slow):
        def submit(self, fn, /, *args):
            future = Future()
            self.given.append(future)
            if len(self.given) == 3:
                future.set_exception(ValueError("no"))
            return future

    executor = Failing([])
    with pytest.raises(ValueError, match="no"):
        run(Engine(executor, 1, None, False, double), double, [(i,) for i in range(9)], lambda number: None)
    assert [future.cancelled() for future in executor.given] == [True, True, False, True]


def test_a_pool_shares_values_through_files_and_leaves_nothing(tmp_path):
    with open_engine(workers=2, scratch=tmp_path) as engine:
        value = engine.share({"number": 21})
        assert engine.folder.is_relative_to(tmp_path.resolve())
        assert run(engine, doubled_share, [(value,)] * 3, lambda number: None) == [42] * 3
    assert list(tmp_path.iterdir()) == []


def test_a_worker_of_a_pool_that_dies_is_replaced_once(tmp_path):
    """The third call ends its process the first time it runs; all calls under way then are made again."""
    marker = tmp_path / "died"
    with open_engine(2, scratch=tmp_path) as engine:
        found = run(engine, die_once, [(number, str(marker)) for number in range(8)], lambda number: None)
    assert marker.exists()
    assert found == [2 * number for number in range(8)]


def test_a_worker_of_a_pool_that_dies_twice_is_told_in_one_line(tmp_path):
    with (
        pytest.raises(PrivaCTError, match=r"worker processes died.*--cluster local:N") as caught,
        open_engine(2, scratch=tmp_path) as e,
    ):
        run(e, die, [(1,)], lambda number: None)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": 0}, "workers 0 is not a whole number from 1"),
        ({"workers": True}, "workers True"),
        ({"workers": 2, "cluster": "local:2"}, "exclude each other"),
        ({"cluster": "local:0"}, "outside 1 to"),
        ({"cluster": "somewhere"}, "neither tcp://HOST:PORT nor local:N"),
        ({"workers": 2, "scratch": "no/such/folder"}, "cannot make a folder in no/such/folder"),
    ],
)
def test_what_cannot_be_is_refused(options, message):
    with pytest.raises(InputError, match=message), open_engine(**options):
        pass


PROGRAM = """
import sys, time
from privact.learn.scale.engines import open_engine
from privact.learn.scale.task_runner import run

def wait(number):
    time.sleep(0.2)
    return number

if __name__ == "__main__":
    with open_engine(2, scratch=sys.argv[1]) as engine:
        run(engine, wait, ((i,) for i in range(10**6)), lambda number: print(number, flush=True))
"""


def test_an_interrupt_ends_the_pool_and_leaves_nothing(tmp_path):
    program, scratch = tmp_path / "program.py", tmp_path / "scratch"
    program.write_text(PROGRAM)
    scratch.mkdir()
    started = subprocess.Popen(
        [sys.executable, program, scratch], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    started.stdout.readline()  # tasks are under way
    assert list(scratch.iterdir()) != []
    os.killpg(started.pid, signal.SIGINT)  # as a terminal does: to parent and workers alike
    _, errors = started.communicate(timeout=60)
    assert started.returncode != 0
    assert errors.count("KeyboardInterrupt") == 1  # the workers say nothing
    assert list(scratch.iterdir()) == []
    assert not _any_left(started.pid)


def test_a_parent_that_is_killed_takes_its_pool_with_it(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    started = subprocess.Popen([sys.executable, program, tmp_path], stdout=subprocess.PIPE, text=True, start_new_session=True)
    started.stdout.readline()  # tasks are under way
    started.kill()
    started.communicate(timeout=60)
    assert not _any_left(started.pid)


def _any_left(session):
    """Whether a process of that session is still there after a moment."""
    for _ in range(50):
        stats = [path.read_text().rsplit(")", 1)[1].split() for path in Path("/proc").glob("[0-9]*/stat") if path.exists()]
        if not any(int(fields[3]) == session and fields[0] != "Z" for fields in stats):
            return False
        time.sleep(0.1)
    return True
