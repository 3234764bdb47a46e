"""The steps of docs/operate.md and of the systemd unit are followed literally: install, upgrade, back up, restore, PostgreSQL."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from deployment.proxies import find_program

ROOT = Path(__file__).parents[2]


def test_every_step_of_the_documentation_works_on_a_bare_machine():
    """Nothing stays of it: /etc, /opt, /var and /root are layers that are thrown away."""
    if os.geteuid() != 0:
        if os.environ.get("PRIVACT_REQUIRE_DEPLOYMENT"):
            pytest.fail("the steps are for root")
        pytest.skip("the steps are for root")
    for program in ("unshare", "sqlite3", "pg_ctlcluster", "systemd-analyze"):
        find_program(program)
    done = subprocess.run([sys.executable, ROOT / "tools" / "try_deployment.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    steps = [line[3:] for line in done.stdout.splitlines() if line.startswith("== ")]
    assert steps == [
        "install", "check the unit", "stop", "upgrade", "back up", "restore", "start PostgreSQL", "move to PostgreSQL",
        "dump", "restore the dump",
    ]  # fmt: skip
    assert done.stdout.endswith("every step of docs/operate.md was followed\n")
