"""Every command line that a page shows names commands and options that exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from reference.commands import all_commands

from .fences import PAGES, ROOT

OPTIONS = {
    command.path: {option for written, _ in command.parameters() for option in re.findall(r"(?<![\w-])--?[\w-]+", written)}
    for command in all_commands()
}
GROUPS = {command.path for command in all_commands() if command.is_group}
_SHOWN = re.compile(r"(?m)(?:^ {4}|^|`|&& |\| |\$\()(?:[A-Z_]+=\S+ )*privact ([^`\n#]*)")


def shown(text: str) -> Iterator[list[str]]:
    """The words after `privact` of every command line in a page, code in a line included; prose is left out."""
    for line in _SHOWN.findall(text.replace("\\\n", " ")):
        words = re.split(r"&&|\||;|> |< |\)", line)[0].split()
        if words and re.fullmatch(r"[a-z0-9-]+", words[0]):
            yield words


def problem(words: list[str]) -> str:
    """Why a command line cannot be typed; empty if it can."""
    path: tuple[str, ...] = ()
    while len(path) < len(words) and (*path, words[len(path)]) in OPTIONS:
        path = (*path, words[len(path)])
    rest = words[len(path) :]
    if not path:
        return "" if words[0].startswith("--") else f"privact has no command {words[0]}"
    if path in GROUPS:
        alternatives = rest[0].split("|") if rest else []
        unknown = [one for one in alternatives if re.fullmatch(r"[a-z0-9-]+", one) and (*path, one) not in OPTIONS]
        return f"privact {' '.join(path)} has no command {unknown[0]}" if unknown else ""
    known = OPTIONS[path] | {"--help", "-h"}
    used = [word.split("=")[0] for word in rest if re.fullmatch(r"--?[a-z][\w-]*(=.*)?", word)]
    return next((f"privact {' '.join(path)} has no option {option}" for option in used if option not in known), "")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_command_lines_name_what_exists(page: Path) -> None:
    problems = [problem(words) for words in shown(page.read_text(encoding="utf-8"))]
    assert [one for one in problems if one] == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("    privact learn a.tsv --epsilon 1 -o t.hct", ""),
        ("    privact learn a.tsv --eps 1", "privact learn has no option --eps"),
        ("use `privact nosuch x`", "privact has no command nosuch"),
        ("`privact round begin spring`", "privact round has no command begin"),
        ("`privact reproduce table1|table2`", ""),
        ("X=1 privact serve --port 1 | cat --number", ""),
        ("privact learn a.tsv \\\n    --nothing", "privact learn has no option --nothing"),
    ],
)
def test_a_wrong_command_line_is_found(text: str, complaint: str) -> None:
    assert [problem(words) for words in shown(text)] == [complaint]
