from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from privact.cli.text import columns, facts, number, print_json, shown, table
from privact.progress import progress_bar


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (1234567, "1,234,567"),
        (0.021374, "0.02137"),
        (22.935, "22.93"),
        (54321.9, "54,322"),
        (2.3456e13, "2.346e+13"),
        (0.0, "0"),
    ],
)
def test_numbers_have_sensible_digits(value, text):
    assert number(value) == text


def test_control_characters_are_shown_not_sent():
    assert shown("ada@vinyl.example") == "ada@vinyl.example"
    assert shown("名前") == "名前"
    assert shown("a\x1b[31mb\n\u202ec") == r"a\x1b[31mb\n\u202ec"
    assert shown("\udc80") == r"\udc80"


def test_tables_are_aligned_also_with_wide_characters(capsys):
    table(("user", "n"), [("ada", "1"), ("名前", "1,000")], right=(1,))
    assert capsys.readouterr().out == "user      n\nada       1\n名前  1,000\n"


def test_columns_fill_80_characters_downwards(capsys):
    columns([f"user{i:02}" for i in range(20)])  # eight characters each: ten fit
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == [f"user{i:02}" for i in range(0, 20, 2)]
    assert lines[1].split() == [f"user{i:02}" for i in range(1, 20, 2)]
    assert max(map(len, lines)) <= 80


def test_facts_are_wrapped_beside_their_name(capsys):
    facts([("a", "x " * 60), ("longer", 3)])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[1].startswith(" " * len("longer  ") + "x")
    assert lines[-1] == "longer  3"


def test_json_holds_plain_numbers_only(capsys):
    print_json({"array": np.arange(3), "nan": float("nan"), "inside": [{"inf": np.float64("inf"), "é": np.int32(4)}]})
    out = capsys.readouterr().out
    assert json.loads(out) == {"array": [0, 1, 2], "nan": None, "inside": [{"inf": None, "é": 4}]}
    assert out.isascii()


class Terminal:
    """Something that looks like a terminal."""

    encoding = "utf-8"

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text
        return len(text)

    def flush(self):
        pass

    def isatty(self):
        return True


def test_progress_is_for_people_only(capsys, monkeypatch):
    with progress_bar() as tell:
        tell("searching", 1, 2)
    assert capsys.readouterr() == ("", "")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar() as tell:
        tell("searching", 1, 2)
    assert "searching" in terminal.text
    quiet = Terminal()
    monkeypatch.setattr(sys, "stderr", quiet)
    with progress_bar(quiet=True) as tell:
        tell("searching", 1, 2)
    assert quiet.text == ""
