"""Which versions of Python and of the packages computed something, and on what kind of machine; never whose."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

__all__ = ["versions"]

PACKAGES = ("privact", "numpy", "numba", "scipy", "opendp")


def versions() -> dict[str, str]:
    """Versions by name, and the kind of system and processor, without the name of the machine."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return {**found, "platform": f"{platform.system()} {platform.machine()}"}
