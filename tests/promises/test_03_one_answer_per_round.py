"""Promise 3. One answer per round, ever: 1,000 asks from 16 threads, and kill -9 at each write point, give one byte string.

A device is killed at every point that the ledger names, and, where the system lets one process trace another, before every
single system call that writes. Whatever it put on the wire before and after is one byte string, charged once.
"""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import signal
import struct
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from privact.device.ledger.home import Home
from privact.device.ledger.ledger import Ledger
from privact.device.noise import make_report
from privact.protocol.addresses import aggregator_address
from privact.protocol.round import Round
from privact.protocol.users import user_digest

ASKS, THREADS, PROCESSES = 1000, 16, 8
NOW = 1_800_000_000.0
USER = "ada@vinyl.example"
TOKEN = f"{user_digest(USER).hex()}.secret"
ADDRESS = aggregator_address("https://clusters.example")
CONTACTS = [f"user{number}@a.example" for number in range(40)]
ROUND = Round(id="spring", epsilon=0.5, n_bins=40, n_users=1000, seed=bytes(16), opens=0, closes=2 * int(NOW))

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="devices are killed in forked processes")


@pytest.fixture
def quick_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: a kill loses nothing that was written, whether or not it reached a disk."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(dir=memory if os.access(memory, os.W_OK) else tmp_path))
    yield folder
    shutil.rmtree(folder)


def joined(folder: Path, kind: type[Ledger] = Ledger) -> Ledger:
    """The ledger of a device, which joins if it has not."""
    return Home(folder, kind).join(ADDRESS, TOKEN, USER)[0].ledger


def ask(ledger: Ledger, wire: Path | None = None) -> bytes:
    """Answer the round as a device does, and send: what is on the wire cannot be taken back."""
    stored = ledger.answer_once(ROUND, now=NOW, draw_slot=lambda: 0, randomize=lambda: make_report(CONTACTS, ROUND, USER))
    if wire is not None:
        descriptor = os.open(wire, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(descriptor, stored.report.hex().encode() + b"\n")
        os.close(descriptor)
    return stored.report


def sent(wire: Path) -> set[str]:
    """The distinct byte strings on the wire."""
    return set(wire.read_text().split()) if wire.exists() else set()


def assert_answered_once(folder: Path, wire: Path) -> None:
    """Ask again as if nothing had happened: what was sent before, if anything, is what is sent now, and was charged once."""
    ledger = joined(folder)
    assert ask(ledger, wire) == ask(ledger, wire)
    assert len(sent(wire)) == 1
    book = ledger.read()
    assert book.spent == 0.5
    assert list(book.answers) == [ROUND.id]
    kept = {"account.json", "ledger.sqlite3", "ledger.marker.json"}
    found = {path.name for path in folder.rglob("*") if path.is_file() and path != wire}
    assert found == kept  # no debris of a killed process


def test_two_devices_would_answer_differently(tmp_path: Path) -> None:
    assert ask(joined(tmp_path / "one")) != ask(joined(tmp_path / "other"))  # alike once in 10^27


def test_a_thousand_asks_from_sixteen_threads_give_one_byte_string(tmp_path: Path) -> None:
    path, marker = joined(tmp_path).files()[:2]
    together = Barrier(THREADS)

    def asks(thread: int) -> set[bytes]:
        together.wait()
        return {ask(Ledger(path, marker, ADDRESS.key, USER)) for _ in range(thread, ASKS, THREADS)}

    with ThreadPoolExecutor(THREADS) as pool:
        answers = set().union(*pool.map(asks, range(THREADS)))
    assert len(answers) == 1
    assert_answered_once(tmp_path, tmp_path / "wire")
    assert {answer.hex() for answer in answers} == sent(tmp_path / "wire")


@needs_fork
def test_processes_that_ask_at_once_give_one_byte_string(tmp_path: Path) -> None:
    ledger, wire = joined(tmp_path), tmp_path / "wire"
    ready, go = os.pipe()
    children = []
    for _ in range(PROCESSES):
        child = os.fork()
        if child == 0:
            os.close(go)
            os.read(ready, 1)  # until the parent closes the other end
            ask(ledger, wire)
            os._exit(0)
        children.append(child)
    os.close(go)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * PROCESSES
    os.close(ready)
    assert len(wire.read_text().split()) == PROCESSES
    assert_answered_once(tmp_path, wire)


class Traced(Ledger):
    """A ledger that remembers the points it reached."""

    points: list[str]

    def reached(self, point: str) -> None:
        Traced.points.append(point)


class Plug(Ledger):
    """A ledger whose process is killed at the given one of its points."""

    at = 0
    passed = 0

    def reached(self, point: str) -> None:
        Plug.passed += 1
        if Plug.passed == Plug.at:
            os.kill(os.getpid(), signal.SIGKILL)


@needs_fork
def test_a_kill_at_each_point_between_two_writes_leaves_one_answer(quick_folder: Path) -> None:
    Traced.points = []
    ask(joined(quick_folder / "traced", Traced))
    points = list(Traced.points)
    for point in ("created", "account.json named", "begun", "slot drawn", "randomized", "inserted", "committed", "marked"):
        assert point in points
    for place in range(1, len(points) + 1):
        folder, wire = quick_folder / f"home{place}", quick_folder / f"wire{place}"
        child = os.fork()
        if child == 0:
            Plug.at, Plug.passed = place, 0
            ask(joined(folder, Plug), wire)
            os._exit(0)
        assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
        assert sent(wire) == set()  # every point is before the report leaves
        assert_answered_once(folder, wire)


WRITES = {  # write, pwrite64, fsync, fdatasync, ftruncate, rename(at), link(at), unlink(at), open with O_CREAT counted as openat
    "x86_64": {1, 18, 74, 75, 77, 82, 83, 86, 87, 257, 263, 264, 265, 316},
    "aarch64": {34, 35, 37, 38, 46, 56, 64, 68, 82, 83, 276},
}
TRACEME, SYSCALL, SETOPTIONS, SYSCALL_INFO = 0, 24, 0x4200, 0x420E
EXIT_WITH_TRACER, MARK_SYSCALLS = 1 << 20, 1
ENTERED = 1


def killed_before(place: int, folder: Path, wire: Path) -> bool:
    """Run a device that joins, answers and sends, killed before its write number `place`; whether there was such a write."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    writes = WRITES[platform.machine()]
    child = os.fork()
    if child == 0:
        if libc.ptrace(TRACEME, 0, None, None) != 0:
            os._exit(77)
        os.kill(os.getpid(), signal.SIGSTOP)
        ask(joined(folder), wire)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status):
        pytest.skip("this system does not let a process trace its child; the test above kills at the named points")
    libc.ptrace(SETOPTIONS, child, None, EXIT_WITH_TRACER | MARK_SYSCALLS)
    seen, info = 0, ctypes.create_string_buffer(88)
    while True:
        libc.ptrace(SYSCALL, child, None, None)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status) or os.WIFSIGNALED(status):
            assert status == 0
            return False
        libc.ptrace(SYSCALL_INFO, child, 88, ctypes.addressof(info))
        seen += info.raw[0] == ENTERED and struct.unpack_from("Q", info.raw, 24)[0] in writes
        if seen == place:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return True


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux" or platform.machine() not in WRITES, reason="system calls are those of Linux")
def test_a_kill_before_each_system_call_that_writes_leaves_one_answer(quick_folder: Path) -> None:
    ask(joined(quick_folder / "warm"))  # OpenDP is loaded before the forks
    place = 1
    while killed_before(place, quick_folder / f"home{place}", quick_folder / f"wire{place}"):
        assert_answered_once(quick_folder / f"home{place}", quick_folder / f"wire{place}")
        place += 1
    assert place > 40  # joining, charging, storing, marking and sending take that many writes at least
    assert len(sent(quick_folder / f"wire{place}")) == 1  # the last one was not killed
