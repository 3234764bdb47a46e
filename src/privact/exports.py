"""Public names of a package that are imported on first use (PEP 562), so that importing the package stays cheap.

A package's `__init__` lists its public names twice: as imports for type checkers and editors, and for this module.

    if TYPE_CHECKING:
        from privact.tree.hct import HierarchicalClusterTree as HierarchicalClusterTree
    else:
        __all__, __getattr__, __dir__ = export_lazily(__name__, {"privact.tree.hct": ["HierarchicalClusterTree"]})

A test holds the two lists together.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

__all__ = ["export_lazily", "load_function"]


def export_lazily(
    package: str, names: Mapping[str, Sequence[str]]
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """The `__all__`, `__getattr__` and `__dir__` of a package whose public names are defined in other modules.

    package: the `__name__` of the package.
    names: modules, and the public names that each defines.
    """
    module_of = {name: module for module, defined in names.items() for name in defined}
    public = sorted(module_of)

    def load(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(module_of[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return public, load, lambda: list(public)


def load_function(module: str, name: str) -> Callable[..., Any]:
    """A function of a package above, found by name when it is called: how a tree offers pictures without knowing the painter."""
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function
