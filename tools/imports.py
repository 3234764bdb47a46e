"""source files -> which module imports which: cycles, modules that nothing imports, crowded folders.

python tools/imports.py [PACKAGE]   # what tests/test_architecture.py would object to
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

__all__ = ["crowded_folders", "exported_names", "import_cycles", "import_graph", "same_names", "unreached_modules"]

LARGEST_FOLDER = 16
_MODULE_NAME = re.compile(r"privact(\.[a-z_0-9]+)+")

Graph = dict[str, set[str]]


def module_name(path: Path, root: Path) -> str:
    """The dotted name of a file inside the package: `tree.hct`; a package is named after its folder."""
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix("__init__").rstrip(".")


def import_graph(root: Path) -> Graph:
    """The modules that each module imports, anywhere in it: at the top, in functions, and for typing only.

    A name imported from a package counts as an import of the module that defines the name. The exports of a package's
    `__init__` are not imports of its own.
    """
    files = {module_name(path, root): path for path in sorted(root.rglob("*.py"))}
    exports = {name: exported_names(path) for name, path in files.items() if path.name == "__init__.py"}
    graph: Graph = {}
    for name, path in files.items():
        code = ast.parse(path.read_text(encoding="utf-8"))
        skipped = _export_lines(code) if path.name == "__init__.py" else set()
        found = {
            _home(target, alias, files, exports)
            for line, target, alias in _imports(code, name if path.name == "__init__.py" else name.rpartition(".")[0])
            if line not in skipped
        }
        graph[name] = {imported for imported in found if imported in files and imported != name}
    return graph


def exported_names(path: Path) -> dict[str, str]:
    """The public names of a package's `__init__`, and the module inside privact that defines each."""
    code = ast.parse(path.read_text(encoding="utf-8"))
    lines = _export_lines(code)
    return {
        alias.asname or alias.name: (node.module or "").removeprefix("privact").lstrip(".")
        for node in ast.walk(code)
        if isinstance(node, ast.ImportFrom) and node.lineno in lines
        for alias in node.names
        if (node.module or "").startswith("privact")
    }


def import_cycles(graph: Graph) -> list[list[str]]:
    """The largest groups of modules that all import each other, directly or through others (Tarjan's algorithm)."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    cycles: list[list[str]] = []

    def visit(module: str) -> None:
        number[module] = lowest[module] = len(number)
        stack.append(module)
        for imported in sorted(graph[module]):
            if imported not in number:
                visit(imported)
            if imported in stack:
                lowest[module] = min(lowest[module], lowest[imported])
        if lowest[module] == number[module]:
            start = stack.index(module)
            if len(stack) - start > 1:
                cycles.append(sorted(stack[start:]))
            del stack[start:]

    for module in sorted(graph):
        if module not in number:
            visit(module)
    return sorted(cycles)


def unreached_modules(root: Path, entry_points: set[str]) -> list[str]:
    """Modules that no other module imports, names in a string, or exports from the top level; packages left out."""
    graph = import_graph(root)
    reached = {imported for imports in graph.values() for imported in imports}
    reached |= set(exported_names(root / "__init__.py").values())
    for path in root.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and path.name != "__init__.py":
                reached |= {found.group().removeprefix("privact.") for found in _MODULE_NAME.finditer(node.value)}
    modules = {module_name(path, root) for path in root.rglob("*.py") if path.name != "__init__.py"}
    return sorted(modules - reached - entry_points)


def crowded_folders(root: Path) -> dict[str, int]:
    """Folders with more than sixteen modules besides `__init__`, and how many each has."""
    counts = {
        folder.relative_to(root).as_posix(): sum(path.name != "__init__.py" for path in folder.glob("*.py"))
        for folder in {path.parent for path in root.rglob("*.py")}
    }
    return {folder: count for folder, count in sorted(counts.items()) if count > LARGEST_FOLDER}


def same_names(root: Path, named_by_folder: set[str]) -> dict[str, list[str]]:
    """File names that several modules share, with the modules.

    named_by_folder: folders whose files are named after what the folder is about, such as commands; not counted.
    """
    modules: dict[str, list[str]] = {}
    for path in sorted(root.rglob("*.py")):
        inside = path.relative_to(root)
        folders = {parent.as_posix() for parent in inside.parents}
        if path.name not in ("__init__.py", "__main__.py") and not folders & named_by_folder:
            modules.setdefault(path.stem, []).append(module_name(path, root))
    return {name: paths for name, paths in modules.items() if len(paths) > 1}


def _imports(code: ast.Module, package: str) -> Iterator[tuple[int, str, str]]:
    """Line, module inside privact and imported name ("" for the module itself) of each import of ours."""
    for node in ast.walk(code):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "privact":
                    yield node.lineno, alias.name.removeprefix("privact").lstrip("."), ""
        elif isinstance(node, ast.ImportFrom):
            target = node.module or ""
            if node.level:
                parts = package.split(".") if package else []
                target = ".".join([*parts[: len(parts) - node.level + 1], *([target] if target else [])])
            elif target.split(".")[0] == "privact":
                target = target.removeprefix("privact").lstrip(".")
            else:
                continue
            for alias in node.names:
                yield node.lineno, target, alias.name


def _home(target: str, name: str, files: dict[str, Path], exports: dict[str, dict[str, str]]) -> str:
    """The module that `from target import name` reads."""
    below = f"{target}.{name}".strip(".")
    if name and below in files:
        return below
    home = exports.get(target, {}).get(name)
    return target if home is None else _home(home, name, files, exports)


def _export_lines(code: ast.Module) -> set[int]:
    """The lines of an `__init__` under `if TYPE_CHECKING`: what the package exports."""
    blocks = [node for node in code.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    return {line for block in blocks for one in block.body for line in range(one.lineno, (one.end_lineno or one.lineno) + 1)}


def main(root: Path, package: str) -> None:
    """Print the cycles, crowded folders and unreached modules of a package ("" for all)."""
    for cycle in import_cycles(import_graph(root)):
        if any(module.split(".")[0] == package or not package for module in cycle):
            print("cycle:", " ".join(cycle))
    for folder, count in crowded_folders(root).items():
        if folder.startswith(package):
            print(f"crowded: {folder} has {count} modules")
    for module in unreached_modules(root, set()):
        if module.startswith(package):
            print("imported by nothing:", module)
    for name, modules in same_names(root, set()).items():
        if any(module.startswith(package) for module in modules):
            print(f"same name: {name}:", " ".join(modules))


if __name__ == "__main__":
    main(Path(__file__).parents[1] / "src" / "privact", sys.argv[1] if len(sys.argv) > 1 else "")
