"""The layers of the aggregator: requests go down through http, domain and storage, and nothing calls back up."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import privact.aggregator

ROOT = Path(privact.aggregator.__file__).parent
PREFIX = "privact.aggregator."
MAY_IMPORT = {
    "settings": set(),
    "logs": set(),
    "pages": set(),
    "storage": {"settings"},
    "domain": {"storage", "settings"},
    "jobs": {"domain", "storage", "settings"},
    "http": {"domain", "storage", "jobs", "pages", "settings"},
    "server": {"http", "domain", "storage", "logs", "settings"},
}
"""Which layers each layer may import, besides itself."""
NOT_FOR = {"storage": ("starlette", "fastapi", "uvicorn"), "domain": ("starlette", "fastapi", "uvicorn"), "jobs": ("starlette",)}
"""Packages of HTTP that lower layers must not name."""


def find_imports(path: Path) -> list[str]:
    """Every module that a file imports, wherever in it."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return found


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_layer_imports_only_the_layers_below(path: Path) -> None:
    inside = path.relative_to(ROOT).with_suffix("").parts
    if inside == ("__init__",):
        return
    layer = inside[0]
    imported = find_imports(path)
    layers = {name.removeprefix(PREFIX).split(".")[0] for name in imported if name.startswith(PREFIX)}
    assert layers - {layer} <= MAY_IMPORT[layer]
    assert [name for name in imported if name.split(".")[0] in NOT_FOR.get(layer, ())] == []


def test_every_route_is_in_the_folder_of_routes() -> None:
    routes = ROOT / "http" / "routes"
    decorated = [path for path in ROOT.rglob("*.py") if "APIRouter(" in path.read_text(encoding="utf-8")]
    assert {path.parent for path in decorated} == {routes}


def test_a_server_that_takes_reports_loads_no_compiler() -> None:
    """numba and SciPy take 130 MB: they come with the first request that computes, and learning has its own processes."""
    look = "import sys, privact.aggregator.server; print([n for n in ('numba', 'llvmlite', 'scipy') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
