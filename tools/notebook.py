"""Run a notebook in this process, keep what it prints, and make a page of it: python tools/notebook.py docs/notebook.ipynb

A kernel and a server would be a dozen packages more; the cells are plain Python, so running them one after the other is enough.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any


def run_notebook(path: Path) -> list[dict[str, Any]]:
    """The cells of a notebook with what they print and show now; raises what a cell raises."""
    import matplotlib

    matplotlib.use("agg")
    cells = read_cells(path)
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(cells):
        if cell["cell_type"] == "code":
            cell["outputs"] = _run("".join(cell["source"]), names, f"{path.name}, cell {number}")
    return cells


def read_cells(path: Path) -> list[dict[str, Any]]:
    """The cells of a notebook as they are in the file."""
    cells: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return cells


def printed_text(cell: dict[str, Any]) -> str:
    """What a cell prints or shows as text."""
    texts = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell.get("outputs", [])]
    return "".join("".join(text) for text in texts)


def notebook_page(path: Path) -> str:
    """The notebook as a page of the site."""
    parts = []
    for cell in read_cells(path):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        if text := printed_text(cell).rstrip():
            parts.append(f"```text\n{text}\n```")
        for output in cell["outputs"]:
            if picture := output.get("data", {}).get("image/png"):
                parts.append(f'<img alt="what the cell above draws" src="data:image/png;base64,{picture}">')
    return "\n\n".join(parts) + "\n"


def _run(source: str, names: dict[str, Any], where: str) -> list[dict[str, Any]]:
    tree = ast.parse(source, where)
    last = tree.body[-1] if tree.body else None
    shown = last.value if isinstance(last, ast.Expr) else None
    if shown is not None:
        tree.body.pop()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, where, "exec"), names)
        value: Any = None if shown is None else eval(compile(ast.Expression(shown), where, "eval"), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": printed.getvalue().splitlines(keepends=True)})
    if hasattr(value, "get_figure"):
        stream = io.BytesIO()
        value.get_figure().savefig(stream, format="png", dpi=90, bbox_inches="tight", metadata={"Software": None})
        picture = base64.b64encode(stream.getvalue()).decode()
        outputs.append({"output_type": "display_data", "metadata": {}, "data": {"image/png": picture}})
    elif value is not None:
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        outputs.append({"output_type": "execute_result", "execution_count": None, "metadata": {}, "data": data})
    return outputs


def write_notebook(path: Path) -> None:
    """Run a notebook and keep what it prints in the file."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    notebook["cells"] = run_notebook(path)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_notebook(Path(sys.argv[1]))
