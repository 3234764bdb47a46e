"""Follow docs/operate.md and deploy/privact.service literally, on a Debian machine, as root; nothing of it stays.

    python tools/try_deployment.py

The commands are read from the two files and run as they stand, in a mount namespace whose /etc, /opt, /var, /root and /run are
layers that are thrown away. Installs, upgrades the database of the first release, backs up, restores, moves to PostgreSQL and
back from its dump; after each step the server must be ready and know its users and rounds. Where no systemd runs, a small
stand-in starts and stops what the unit names, as its user and with its environment.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]
URL = "http://127.0.0.1:8420"
OPERATOR = "operator." + "o" * 43
LAYERED = ("etc", "opt", "var", "root", "run", "usr/local/bin")
STAND_IN = """#!/bin/sh
# A stand-in for systemctl: the unit's command as its user, with its environment.
unit=/etc/systemd/system/privact.service
pid=/run/privact.pid
stop() { [ ! -f $pid ] || { kill -TERM "$(cat $pid)" 2>/dev/null; tail --pid="$(cat $pid)" -f /dev/null; rm -f $pid; }; }
start() {
    install -d -m 0700 -o privact -g privact /var/lib/privact /var/cache/privact
    ( set -a; eval "$(sed -n 's/^Environment=//p' $unit)"
      [ ! -f /etc/privact/secrets ] || . /etc/privact/secrets
      umask "$(sed -n 's/^UMask=//p' $unit)"; cd /
      exec setpriv --reuid privact --regid privact --clear-groups \\
          $(sed -n 's/^ExecStart=//p' $unit) ) >>/var/log/privact.log 2>&1 &
    echo $! > $pid
}
case "$1" in
    daemon-reload) ;;
    start | enable) start ;;
    stop) stop ;;
    restart) stop; start ;;
    *) echo "systemctl $1: not known here" >&2; exit 1 ;;
esac
"""


def main() -> None:
    """Enter a throwaway machine, or follow the steps inside it."""
    if sys.argv[1:] == ["inside"]:
        follow()
        return
    if os.geteuid() != 0:
        sys.exit("try_deployment: run as root; it works on layers over /etc, /opt and /var that are thrown away")
    with tempfile.TemporaryDirectory(prefix="privact-machine-") as folder:
        mounts = "".join(
            f"mkdir -p {folder}/{name}/upper {folder}/{name}/work && mount -t overlay overlay "
            f"-o lowerdir=/{name},upperdir={folder}/{name}/upper,workdir={folder}/{name}/work /{name} && "
            for name in LAYERED
        )
        inside = f"{mounts}exec {sys.executable} {Path(__file__).resolve()} inside"
        sys.exit(subprocess.run(["unshare", "--mount", "sh", "-c", inside], cwd=HERE, check=False).returncode)


def follow() -> None:
    """Every step, with a look at the server after each."""
    if Path("/proc/1/comm").read_text().strip() != "systemd":
        Path("/usr/local/bin/systemctl").write_text(STAND_IN)
        Path("/usr/local/bin/systemctl").chmod(0o755)
    os.environ["PATH"] = "/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin:/bin:/sbin"
    for name in [name for name in os.environ if name.startswith(("PRIVACT_", "PYTHON", "VIRTUAL_ENV"))]:
        del os.environ[name]
    try:
        run("install", read_unit_steps())
        look(rounds=0)
        run("check the unit", "systemd-analyze verify /etc/systemd/system/privact.service")
        run("stop", "systemctl stop privact")
        put_first_release()
        run("upgrade", read_block("Upgrading", "pip install"))
        look(rounds=3)
        run("back up", read_block("Backups", "umask"))
        check_private(Path("/var/backups/privact"))
        run("restore", read_block("Backups", "systemctl stop"))
        look(rounds=3)
        run("start PostgreSQL", "pg_ctlcluster $(ls /etc/postgresql) main start")
        run("move to PostgreSQL", read_block("PostgreSQL", "CREATE ROLE").replace("'PASSWORD'", "'PASSWORD'"))
        look(rounds=0)
        try_dump()
    finally:
        subprocess.run("systemctl stop privact; pg_ctlcluster $(ls /etc/postgresql) main stop", shell=True, check=False)
    print("try_deployment: every step of docs/operate.md was followed")


def try_dump() -> None:
    """Dump PostgreSQL, change something, restore: the change is gone."""
    document = (HERE / "docs" / "operate.md").read_text()
    dump, restore = re.findall(r"`(runuser -u postgres -- pg_(?:dump|restore) [^`]+)`", document)
    users = json.dumps({"users": ["eve@a.example"]}).encode()
    run("dump", f"umask 077; {dump}")
    check_private(Path("/var/backups/privact"))
    ask("/v1/users", read_token(), users)
    run("restore the dump", f"systemctl stop privact; {restore}; systemctl start privact")
    look(rounds=0)
    assert ask("/v1/users", read_token())["total"] == 0


def run(step: str, commands: str) -> None:
    """Run commands with a shell that stops at the first that fails."""
    print(f"== {step}\n{commands}", flush=True)
    subprocess.run(["bash", "-euo", "pipefail", "-c", commands], check=True, stdout=subprocess.DEVNULL, cwd=HERE)


def read_unit_steps() -> str:
    """The steps in the first lines of the unit."""
    lines = (HERE / "deploy" / "privact.service").read_text().splitlines()
    return "\n".join(line[4:] for line in lines if line.startswith("#   ") and "operator-token" not in line)


def read_block(section: str, word: str) -> str:
    """The indented block of a section of docs/operate.md that holds a word."""
    text = (HERE / "docs" / "operate.md").read_text()
    body = text.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"(?:^    .*\n)+", body, re.MULTILINE)
    (block,) = [block for block in blocks if word in block]
    return "\n".join(line[4:] for line in block.splitlines())


def put_first_release() -> None:
    """The data folder that the first release would have left."""
    fixture = HERE / "tests" / "aggregator" / "storage" / "first_release"
    data = Path("/var/lib/privact")
    shutil.rmtree(data)
    (data / "releases").mkdir(parents=True)
    shutil.copy(fixture / "spring.hct", data / "releases")
    with (fixture / "privact.sql").open() as dump:
        subprocess.run(["sqlite3", data / "privact.sqlite3"], stdin=dump, check=True)
    (data / "operator-token").write_text(OPERATOR)
    subprocess.run(["chmod", "-R", "u=rwX,go=", data], check=True)
    subprocess.run(["chown", "-R", "privact:", data], check=True)


def look(rounds: int) -> None:
    """Wait until the server is ready, and count its rounds."""
    for _ in range(600):
        try:
            ask("/readyz")
            break
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.2)
    found = ask("/v1/rounds", read_token() if rounds else None)["rounds"]
    assert len(found) == rounds, found
    modes = {path.name: oct(path.stat().st_mode & 0o777) for path in Path("/var/lib/privact").iterdir()}
    assert all(mode.endswith("00") for mode in modes.values()), modes


def check_private(folder: Path) -> None:
    """Nobody but the owner may read a backup."""
    for path in (folder, *folder.rglob("*")):
        mode = path.stat().st_mode & 0o777
        assert mode == (0o700 if path.is_dir() else 0o600), f"{path} has mode {oct(mode)}"


def read_token() -> str:
    """The operator's token of the server that runs; after a restore it is the first release's."""
    path = Path("/var/lib/privact/operator-token")
    return path.read_text().strip() if path.exists() else OPERATOR


def ask(path: str, token: str | None = None, body: bytes | None = None) -> dict[str, Any]:
    """The JSON of a response."""
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    with urllib.request.urlopen(urllib.request.Request(URL + path, body, headers)) as response:
        found: dict[str, Any] = json.load(response)
    return found


if __name__ == "__main__":
    main()
