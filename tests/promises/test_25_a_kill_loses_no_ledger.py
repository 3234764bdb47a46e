"""Promise 25: a device that is killed while it merges or moves its ledger, at any file operation, loses nothing it spent."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from privact.device.ledger.home import Home
from privact.device.ledger.kept_log import LogHead
from privact.protocol.addresses import aggregator_address
from privact.protocol.report import Report
from privact.protocol.round import Round
from privact.protocol.users import user_digest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that can be killed")

FIRST_HOME = Path(__file__).parents[1] / "device" / "ledger" / "first_version"
ADA = "ada@vinyl.example"
OLD, NEW = (aggregator_address(f"https://{name}.example") for name in ("old", "new"))
SPRING = Round(id="spring", epsilon=0.5, n_bins=2, n_users=500, seed=bytes(16), opens=0, closes=10**10)
CHANGES = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "sqlite3.connect"}
"""The audit events of Python before which a process is killed, besides every opening of a file."""


def killed_before(step: int, work: Callable[[], object]) -> bool:
    """Do work in a process that kills itself before its file operation of this number; False if it came to its end."""
    child = os.fork()
    if child == 0:
        left = step

        def watch(event: str, arguments: tuple[object, ...]) -> None:
            nonlocal left
            if event in CHANGES or event == "open":
                left -= 1
                if left < 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        try:
            sys.addaudithook(watch)
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, f"the work failed, stopped before step {step}"
    return os.WIFSIGNALED(status)


def summary(home: Home) -> object:
    return [
        (account.address.url, book.spent, book.rules, sorted(book.answers), book.lost)
        for account in home.accounts()
        for book in [account.ledger.read()]
    ]


def test_merging_ledgers_of_the_first_version(tmp_path: Path) -> None:
    shutil.copytree(FIRST_HOME, tmp_path / "whole")
    expected, step = summary(Home(tmp_path / "whole")), 0
    while True:
        path = tmp_path / f"home{step}"
        shutil.copytree(FIRST_HOME, path)
        ended = not killed_before(step, Home(path).accounts)
        assert summary(Home(path)) == expected, f"killed before step {step}"
        if ended:
            break
        step += 1
    assert step > 10


def test_moving_to_a_new_address(tmp_path: Path) -> None:
    token = f"{user_digest(ADA).hex()}.{'s' * 43}"
    original = Home(tmp_path / "home")
    account, _ = original.join(OLD, token, ADA)
    report = Report.bind(SPRING, ADA, (1, 2))
    account.ledger.answer_once(SPRING, now=5, draw_slot=lambda: 0, randomize=lambda: report)
    account.log.keep(LogHead(bytes(32), 3, b"h" * 32))
    step = 0
    while True:
        path = tmp_path / f"home{step}"
        shutil.copytree(original.path, path)
        home = Home(path)
        ended = not killed_before(step, lambda home=home: home.move(home.account(OLD.url), NEW))  # type: ignore[misc]
        for account in home.accounts():  # whichever is left says the same, and never draws new noise
            assert account.ledger.read().spent == 0.5, f"killed before step {step}"
            answer = account.ledger.answer_once(SPRING, now=6, draw_slot=lambda: 0, randomize=lambda: pytest.fail("new noise"))
            assert answer.report == report.to_bytes()
        if NEW.url not in [account.address.url for account in home.accounts()]:
            home.move(home.account(OLD.url), NEW)
        moved = home.account(NEW.url)
        assert (moved.ledger.read().spent, list(moved.ledger.read().answers)) == (0.5, ["spring"])
        assert moved.log.read() == LogHead(bytes(32), 3, b"h" * 32)
        if ended:
            break
        step += 1
    assert step > 5
