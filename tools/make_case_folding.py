"""Unicode's CaseFolding.txt -> the table with which the device in the browser folds case, as an ES module.

    python tools/make_case_folding.py CaseFolding.txt > src/privact/device/page/static/vendor/unicode/case_folding.js

JavaScript has no full case folding. Statuses C and F are taken, as docs/protocol.md says. Most foldings move a whole run of
letters by one distance, so the table is a few hundred runs (first, last, step, distance) and the foldings that grow.
"""

from __future__ import annotations

import sys
from pathlib import Path

__all__ = ["fold_table", "render_module"]

Run = tuple[int, int, int, int]


def fold_table(text: str) -> dict[int, str]:
    """What each code point folds to; those that fold to themselves are left out.

    text: the content of CaseFolding.txt.
    """
    table = {}
    for line in text.splitlines():
        code, _, rest = line.partition("; ")
        status, _, mapped = rest.partition("; ")
        if status in ("C", "F") and not line.startswith("#"):
            table[int(code, 16)] = "".join(chr(int(each, 16)) for each in mapped.split(";")[0].split())
    return table


def render_module(text: str) -> str:
    """The ES module for a CaseFolding.txt.

    text: its content; the first line names the version.
    """
    table = fold_table(text)
    runs: list[Run] = []
    for code, folded in sorted(table.items()):
        if len(folded) == 1:
            runs = _extend(runs, code, ord(folded) - code)
    grown = [f'  [0x{code:x}, "{_escape(folded)}"],' for code, folded in sorted(table.items()) if len(folded) > 1]
    version = text.splitlines()[0].removeprefix("# ").removesuffix(".txt")
    lines = [
        f"// Full case folding of {version}, statuses C and F, made by tools/make_case_folding.py.",
        "// Unicode data files: Copyright Unicode, Inc., see LICENSE.txt beside this file.",
        "",
        "// Code points first to last in steps of step fold to the code point at a distance: [first, last, step, distance].",
        "export const RUNS = [",
        *(f"  [0x{first:x}, 0x{last:x}, {step}, {distance}]," for first, last, step, distance in runs),
        "];",
        "",
        "// Code points that fold to several.",
        "export const GROWN = [",
        *grown,
        "];",
    ]
    return "\n".join(lines) + "\n"


def _extend(runs: list[Run], code: int, distance: int) -> list[Run]:
    """The runs with one more code point: in the last run if it continues it, else in a run of its own."""
    if runs:
        first, last, step, moved = runs[-1]
        gap = code - last
        if moved == distance and (gap == step or (first == last and gap <= 2)):
            return [*runs[:-1], (first, code, gap, distance)]
    return [*runs, (code, code, 1, distance)]


def _escape(text: str) -> str:
    return "".join(f"\\u{{{ord(letter):x}}}" for letter in text)


if __name__ == "__main__":
    print(render_module(Path(sys.argv[1]).read_text(encoding="utf-8")), end="")
