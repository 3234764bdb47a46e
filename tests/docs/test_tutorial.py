"""The tutorial, pasted block by block into one shell: every command works, and what is shown is what comes out."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from .fences import DOCS, Block, blocks

TUTORIAL = DOCS / "tutorial.md"
MARK = "=== end of block"
ONCE = 'title="once, in the repository"'
"""Marks the only block that is not run here: it sets up the environment that this test runs in."""


def fits(shown: str, printed: str) -> bool:
    """Whether an output is the one shown, where `...` on a line of its own stands for any lines and elsewhere for any text."""
    pattern = ""
    for line in shown.rstrip("\n").split("\n"):
        if line.strip() == "...":
            pattern += r"(?:[^\n]*\n)*"
        else:
            pattern += "[^\\n]*".join(re.escape(part) for part in line.rstrip().split("...")) + "\\n"
    ending = "\n".join(line.rstrip() for line in printed.rstrip("\n").split("\n")) + "\n"
    return re.fullmatch(pattern, ending) is not None


@pytest.mark.parametrize(
    ("shown", "printed", "fit"),
    [
        ("a b\nc", "a b\nc\n", True),
        ("a b\nc", "a b\nd\n", False),
        ("a ... b", "a 1.5 b\n", True),
        ("a ... b", "a 1.5 c\n", False),
        ("a\n...\nz", "a\nz\n", True),
        ("a\n...\nz", "a\nb\nc\nz\n", True),
        ("a\n...", "b\n", False),
        ("...\nz", "a\n\nz", True),
        ("a.b", "axb", False),
    ],
)
def test_three_dots_stand_for_what_differs(shown: str, printed: str, fit: bool) -> None:
    assert fits(shown, printed) is fit


def run_of(script_blocks: list[Block]) -> list[tuple[Block, str]]:
    """Each block that is run, with the output that is shown below it, or nothing."""
    runs: list[tuple[Block, str]] = []
    for block in script_blocks:
        if block.language in ("sh", "python") and block.options != ONCE:
            runs.append((block, ""))
        elif block.language == "text" and runs:
            runs[-1] = (runs[-1][0], block.code)
    return runs


def script_of(runs: list[tuple[Block, str]]) -> str:
    """One shell script: the blocks, with a mark after the output of each."""
    parts = ["set -eu", "trap 'jobs -p | xargs -r kill 2> /dev/null' EXIT"]
    for block, _ in runs:
        parts += [f"python - <<'END OF PYTHON'\n{block.code}END OF PYTHON" if block.language == "python" else block.code]
        parts += [f"printf '%s\\n' '{MARK}'"]
    return "\n".join(parts)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def test_every_block_runs_and_prints_what_is_shown(tmp_path: Path) -> None:
    runs = run_of(blocks(TUTORIAL))
    assert len(runs) > 10
    port = str(free_port())
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PRIVACT_")}
    environment |= {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PRIVACT_URL": f"http://127.0.0.1:{port}",
        "PRIVACT_PORT": port,
    }
    process = subprocess.Popen(
        ["bash", "-c", script_of(runs).replace("8420", port)],
        cwd=tmp_path,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        printed, complaints = process.communicate(timeout=300)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    outputs = printed.split(f"{MARK}\n")
    reached = runs[min(len(outputs), len(runs)) - 1][0]
    assert process.returncode == 0, f"tutorial.md, block at line {reached.line}: {complaints}"
    assert len(outputs) == len(runs) + 1
    for (block, shown), output in zip(runs, outputs, strict=False):
        assert not shown or fits(shown, output), f"tutorial.md, line {block.line}, prints:\n{output}"


def test_nothing_is_left_running_and_all_output_blocks_belong_to_a_command() -> None:
    text = TUTORIAL.read_text(encoding="utf-8")
    assert text.count("privact serve") == text.count("kill $SERVER") == text.count("wait $SERVER")
    assert [block for block in blocks(TUTORIAL) if block.language not in ("sh", "python", "text")] == []
    assert sum(block.options == ONCE for block in blocks(TUTORIAL)) == 1
