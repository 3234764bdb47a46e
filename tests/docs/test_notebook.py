"""The notebook runs, and prints what its file says."""

from __future__ import annotations

from pathlib import Path

from notebook import notebook_page, printed_text, read_cells, run_notebook

NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebook.ipynb"


def test_the_notebook_prints_what_it_shows() -> None:
    shown = read_cells(NOTEBOOK)
    for number, (cell, now) in enumerate(zip(shown, run_notebook(NOTEBOOK), strict=True)):
        assert printed_text(cell) == printed_text(now), f"cell {number}: run python tools/notebook.py docs/notebook.ipynb"
    assert any("image/png" in output.get("data", {}) for cell in shown for output in cell.get("outputs", []))


def test_the_page_holds_cells_outputs_and_the_plot() -> None:
    page = notebook_page(NOTEBOOK)
    assert page.startswith("# A notebook")
    assert "```python\nimport networkx as nx" in page
    assert "```text\nepsilon 0.5: " in page
    assert page.count('src="data:image/png;base64,') == 1
