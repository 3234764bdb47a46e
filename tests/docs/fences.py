"""Fenced blocks of Markdown pages, and the pages that people wrote."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [*sorted(DOCS.rglob("*.md")), *sorted(ROOT.glob("*.md"))]
"""The pages that people write; those of the reference are made from code."""

_FENCE = re.compile(r"^```(?P<language>[\w-]*)(?P<options>[^\n]*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A fenced block.

    language: after the fence, such as sh; options: what follows it.
    code: the lines between the fences.
    line: where it begins, from 1.
    """

    language: str
    options: str
    code: str
    line: int


def blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(found["language"], found["options"].strip(), found["code"], text.count("\n", 0, found.start()) + 1)
        for found in _FENCE.finditer(text)
    ]


def without_fences(page: Path) -> str:
    """The prose of a page: without fenced blocks, indented code and code in a line."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    text = re.sub(r"(?m)^(?: {4}|\t)(?![-*\d]).*$", "", text)
    return re.sub(r"`[^`\n]*`", "", text)
