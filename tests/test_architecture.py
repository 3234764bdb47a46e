"""The folder map and the import rules: data flows one way, and only devices and experiments can name an edge."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import privact
from imports import crowded_folders, exported_names, import_cycles, import_graph, same_names, unreached_modules

SOURCE = Path(privact.__file__).parent

FOUNDATIONS = {"errors", "exports", "ids", "progress", "storage"}
PACKAGES = {
    "protocol", "client", "device", "tree", "learn", "query", "drawing", "recommend", "aggregator",
    "network", "simulate", "baselines", "experiments", "bench", "audit", "cli",
}  # fmt: skip
ROOT_MODULES = {"__init__", "__main__", "estimator", "measures", "sklearn_contract"} | FOUNDATIONS

# What each unit (a package, or a module beside them) may import of ours, besides itself.
EVERYTHING = PACKAGES | FOUNDATIONS | {"estimator", "measures", "sklearn_contract"}
SEES_WHOLE_GRAPHS = EVERYTHING - {"cli", "aggregator"}
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "exports": set(),
    "ids": {"errors"},
    "progress": {"errors"},
    "storage": {"errors"},
    "protocol": FOUNDATIONS,
    "client": FOUNDATIONS | {"protocol"},
    "device": FOUNDATIONS | {"protocol", "client"},
    "tree": FOUNDATIONS,
    "learn": FOUNDATIONS | {"tree"},
    "query": FOUNDATIONS | {"tree", "learn"},
    "drawing": FOUNDATIONS | {"tree", "query"},
    "recommend": FOUNDATIONS | {"tree", "learn", "query"},
    "aggregator": FOUNDATIONS | {"protocol", "tree", "learn", "query", "drawing", "recommend"},
    "network": FOUNDATIONS | {"protocol"},
    "simulate": SEES_WHOLE_GRAPHS,
    "baselines": SEES_WHOLE_GRAPHS,
    "audit": SEES_WHOLE_GRAPHS,
    "experiments": SEES_WHOLE_GRAPHS,
    "bench": SEES_WHOLE_GRAPHS,
    "estimator": SEES_WHOLE_GRAPHS,
    "measures": SEES_WHOLE_GRAPHS,
    "sklearn_contract": {"errors"},
    "cli": EVERYTHING,
    "__main__": {"cli"},
    "__init__": SEES_WHOLE_GRAPHS,
}
PUBLIC_NAME = "a public name of privact"
FORBIDDEN_NAMES = {"utils", "helpers", "base", "manager", "common"}
HEAVY = ("numba", "scipy", "pyarrow", "opendp", "matplotlib", "networkx")

# Modules that start something of their own: python -m privact, privact-device, and alembic's files.
ENTRY_POINTS = {
    "__main__",
    "cli.device.main",
    "aggregator.storage.migrations.env",
    "aggregator.storage.migrations.versions.discoverable_users",
    "aggregator.storage.migrations.versions.erasures_table",
    "aggregator.storage.migrations.versions.shared_files_tables",
    "aggregator.storage.migrations.versions.report_counts_table",
    "aggregator.storage.migrations.versions.first_tables",
    "aggregator.storage.migrations.versions.invitations_table",
    "aggregator.storage.migrations.versions.label_names",
    "aggregator.storage.migrations.versions.series_tables",
    "aggregator.storage.migrations.versions.trust_tables",
}
# Readable versions of kernels: tests hold the kernel to them.
PLAIN_TWINS = {"recommend.exposure.plain", "learn.evidence.series.mixture_plain"}
# Folders whose files are named after what the folder is about: a command, the noun of a route, a table of the paper.
NAMED_BY_FOLDER = {"cli", "aggregator/http/routes", "experiments"}
# A name that means the same everywhere: the list of what a folder offers.
SAME_MEANING = {"registry"}


def modules(root: Path) -> list[Path]:
    """Every module below the root."""
    return sorted(root.rglob("*.py"))


def unit_of(parts: tuple[str, ...]) -> str:
    """The unit of a dotted path inside the package: its first part."""
    return parts[0] if parts else "__init__"


def imported_units(path: Path, root: Path) -> Iterator[tuple[int, str]]:
    """Line and unit of everything of ours that a module imports, anywhere in it."""
    inside = path.relative_to(root).with_suffix("").parts
    package = inside[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                first, *rest = alias.name.split(".")
                if first == "privact":
                    yield node.lineno, unit_of(tuple(rest)) if rest else PUBLIC_NAME
        elif isinstance(node, ast.ImportFrom):
            target = tuple(node.module.split(".")) if node.module else ()
            if node.level:
                target = package[: len(package) - (node.level - 1)] + target
            elif target[0] == "privact":
                target = target[1:]
            else:
                continue
            for alias in node.names:
                if target:
                    yield node.lineno, target[0]
                elif (root / alias.name).is_dir() or (root / f"{alias.name}.py").is_file():
                    yield node.lineno, alias.name
                elif alias.name != "__version__":
                    yield node.lineno, PUBLIC_NAME


def broken_rules(root: Path) -> list[str]:
    """One line for every import that the rules do not allow."""
    broken = []
    for path in modules(root):
        inside = path.relative_to(root).with_suffix("").parts
        unit = unit_of(inside)
        if unit not in MAY_IMPORT:
            broken.append(f"{'/'.join(inside)} is not in the folder map")
            continue
        for line, imported in imported_units(path, root):
            if imported != unit and imported not in MAY_IMPORT[unit] and not (unit == "cli" and imported == PUBLIC_NAME):
                broken.append(f"{'/'.join(inside)}:{line} imports {imported}")
    return broken


def test_every_import_follows_the_rules() -> None:
    assert broken_rules(SOURCE) == []


def test_the_rules_cover_every_unit() -> None:
    assert set(MAY_IMPORT) == PACKAGES | ROOT_MODULES


def test_no_module_imports_itself_through_others() -> None:
    assert import_cycles(import_graph(SOURCE)) == []


def test_folders_stay_small() -> None:
    assert crowded_folders(SOURCE) == {}


def test_every_module_is_used_by_another() -> None:
    assert unreached_modules(SOURCE, ENTRY_POINTS | PLAIN_TWINS) == []


def test_a_name_of_a_module_means_one_thing() -> None:
    assert set(same_names(SOURCE, NAMED_BY_FOLDER)) <= SAME_MEANING


def test_cycles_are_found_in_functions_for_typing_and_through_exports(tmp_path: Path) -> None:
    made_up_tree(tmp_path)
    assert import_cycles(import_graph(tmp_path)) == []
    export = "if TYPE_CHECKING:\n    from privact.tree.hct import Tree as Tree\n"
    (tmp_path / "tree" / "__init__.py").write_text(export)
    (tmp_path / "tree" / "hct.py").write_text("def cost():\n    from .cost import cost_of\n")
    (tmp_path / "tree" / "cost.py").write_text("from .sums import total\n")
    (tmp_path / "tree" / "sums.py").write_text("if TYPE_CHECKING:\n    from privact.tree import Tree\n")
    assert import_cycles(import_graph(tmp_path)) == [["tree.cost", "tree.hct", "tree.sums"]]
    (tmp_path / "tree" / "sums.py").write_text("")
    assert import_cycles(import_graph(tmp_path)) == []


def test_a_module_that_only_its_package_exports_is_unused(tmp_path: Path) -> None:
    made_up_tree(tmp_path)
    before = unreached_modules(tmp_path, set())
    (tmp_path / "tree" / "__init__.py").write_text("if TYPE_CHECKING:\n    from privact.tree.hct import Tree as Tree\n")
    (tmp_path / "tree" / "hct.py").write_text("")
    assert unreached_modules(tmp_path, set()) == sorted([*before, "tree.hct"])
    (tmp_path / "estimator.py").write_text("from privact.tree import Tree\n")
    assert "tree.hct" not in unreached_modules(tmp_path, set())


def test_crowded_folders_and_shared_names_are_found(tmp_path: Path) -> None:
    made_up_tree(tmp_path)
    assert crowded_folders(tmp_path) == {}
    for number in range(17):
        (tmp_path / "tree" / f"part{number}.py").write_text("")
    assert crowded_folders(tmp_path) == {"tree": 17}
    assert same_names(tmp_path, set()) == {}
    (tmp_path / "query" / "part3.py").write_text("")
    assert same_names(tmp_path, set()) == {"part3": ["query.part3", "tree.part3"]}
    assert same_names(tmp_path, {"query"}) == {}


@pytest.mark.parametrize(
    ("module", "code", "imported"),
    [
        ("errors.py", "import privact.protocol.round", "protocol"),
        ("protocol/round.py", "from privact.device.noise import randomize", "device"),
        ("protocol/round.py", "from ..tree import hct", "tree"),
        ("device/noise.py", "from privact.aggregator import store", "aggregator"),
        ("device/noise.py", "from privact.network.graph import ContactGraph", "network"),
        ("aggregator/store.py", "def late():\n    from privact.device.degrees import degree_vector", "device"),
        ("aggregator/store.py", "from .. import network", "network"),
        ("aggregator/pages/tree.py", "from ...network.graph import ContactGraph", "network"),
        ("aggregator/store.py", "from privact import ContactGraph", PUBLIC_NAME),
        ("aggregator/store.py", "import privact", PUBLIC_NAME),
        ("tree/hct.py", "from privact import protocol", "protocol"),
        ("tree/hct.py", "import privact.query.community as community", "query"),
        ("query/community.py", "from ..protocol.round import Round", "protocol"),
        ("query/community.py", "from privact.recommend import ratings", "recommend"),
        ("recommend/ratings.py", "if True:\n    import numpy, privact.network.graph", "network"),
        ("network/graph.py", "from privact.estimator import PrivaCT", "estimator"),
        ("network/graph.py", "from privact.aggregator.storage import database", "aggregator"),
        ("baselines/cmn.py", "from privact.aggregator import store", "aggregator"),
        ("audit/epsilon.py", "class A:\n    def b(self):\n        import privact.cli.main", "cli"),
        ("experiments/table.py", "from privact.cli import main", "cli"),
        ("estimator.py", "from .aggregator import worker", "aggregator"),
        ("estimator.py", "from .cli.main import main", "cli"),
        ("__init__.py", "from .cli.main import main", "cli"),
        ("__main__.py", "from privact.tree import hct", "tree"),
    ],
)
def test_the_checker_finds_a_broken_rule(tmp_path: Path, module: str, code: str, imported: str) -> None:
    made_up_tree(tmp_path)
    assert broken_rules(tmp_path) == []
    path = tmp_path / module
    path.parent.mkdir(exist_ok=True)
    path.write_text(code)
    assert broken_rules(tmp_path) == [f"{module.removesuffix('.py')}:{len(code.splitlines())} imports {imported}"]


def test_the_checker_finds_a_module_outside_the_map(tmp_path: Path) -> None:
    made_up_tree(tmp_path)
    (tmp_path / "extra").mkdir()
    (tmp_path / "extra" / "thing.py").write_text("")
    assert broken_rules(tmp_path) == ["extra/thing is not in the folder map"]


def made_up_tree(root: Path) -> None:
    """A small package that follows every rule, with each kind of import."""
    for package in PACKAGES:
        (root / package).mkdir()
        (root / package / "__init__.py").write_text('"""a -> b."""\n')
    (root / "__init__.py").write_text("")
    (root / "errors.py").write_text("import numpy\n")
    (root / "protocol" / "round.py").write_text("from ..errors import ProtocolError\nfrom . import bins\n")
    (root / "device" / "noise.py").write_text("import privact.protocol.round\nfrom .degrees import degree_vector\n")
    (root / "aggregator" / "store.py").write_text(
        "from privact import __version__, errors\nfrom privact.query import community\n"
    )
    (root / "simulate" / "reports.py").write_text("def play():\n    from privact.device import noise\n")
    (root / "estimator.py").write_text("from privact.simulate import reports\n")
    (root / "cli" / "main.py").write_text("import privact\nfrom privact.aggregator import app\n")
    (root / "__main__.py").write_text("from privact.cli.main import main\n")


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_a_package_of_the_map_states_its_arrow_in_one_line(package: str) -> None:
    code = ast.parse((SOURCE / package / "__init__.py").read_text(encoding="utf-8"))
    docstring = ast.get_docstring(code)
    assert docstring
    assert "\n" not in docstring


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_the_two_lists_of_a_package_s_public_names_agree(package: str) -> None:
    for_typing = exported_names(SOURCE / package / "__init__.py")
    module = import_module(f"privact.{package}")
    assert set(getattr(module, "__all__", ())) == set(for_typing)
    for name, home in for_typing.items():
        assert getattr(module, name) is getattr(import_module(f"privact.{home}"), name)
        # A module of this name would replace the public name as soon as it is imported.
        assert not (SOURCE / package / f"{name}.py").exists()
        assert not (SOURCE / package / name).exists()


@pytest.mark.parametrize("path", modules(SOURCE), ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_is_one_named_idea(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400
    words = {word for part in path.relative_to(SOURCE).with_suffix("").parts for word in part.split("_")}
    assert not words & FORBIDDEN_NAMES


@pytest.mark.parametrize("module", ["errors", "tree.hct", "cli.main", *sorted(PACKAGES)])
def test_what_a_query_needs_imports_nothing_heavy(module: str) -> None:
    code = f"import sys, privact.{module}; print(*(name for name in {HEAVY!r} if name in sys.modules))"
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.split() == []
