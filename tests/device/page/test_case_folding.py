"""The table of case foldings is made from Unicode's file: runs of letters, and the foldings that grow."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import privact

ROOT = Path(__file__).parents[3]
TABLE = Path(privact.__file__).parent / "device" / "page" / "static" / "vendor" / "unicode" / "case_folding.js"
SAMPLE = """# CaseFolding-99.0.0.txt
# Date: some day
0041; C; 0061; # LATIN CAPITAL LETTER A
0042; C; 0062; # LATIN CAPITAL LETTER B
0049; T; 0131; # LATIN CAPITAL LETTER I
00DF; F; 0073 0073; # LATIN SMALL LETTER SHARP S
0100; C; 0101; # LATIN CAPITAL LETTER A WITH MACRON
0102; C; 0103; # LATIN CAPITAL LETTER A WITH BREVE
0104; C; 0105; # LATIN CAPITAL LETTER A WITH OGONEK
1E9E; S; 00DF; # LATIN CAPITAL LETTER SHARP S
"""


def made(text: str) -> str:
    described = importlib.util.spec_from_file_location("make_case_folding", ROOT / "tools" / "make_case_folding.py")
    assert described is not None
    assert described.loader is not None
    module = importlib.util.module_from_spec(described)
    described.loader.exec_module(module)
    return module.render_module(text)


def test_letters_in_a_row_become_one_run_and_statuses_s_and_t_are_left_out() -> None:
    module = made(SAMPLE)
    assert "CaseFolding-99.0.0," in module
    assert re.findall(r"^  \[.*\],$", module, re.MULTILINE) == [
        "  [0x41, 0x42, 1, 32],", "  [0x100, 0x104, 2, 1],", '  [0xdf, "\\u{73}\\u{73}"],',
    ]  # fmt: skip


def test_the_table_of_the_page_has_the_form_that_the_tool_writes() -> None:
    written = TABLE.read_text(encoding="utf-8")
    empty = made("# CaseFolding-17.0.0.txt\n")
    assert re.sub(r"^  \[.*\],\n", "", written, flags=re.MULTILINE) == empty
