"""Write a software bill of materials: the packages installed in this environment -> CycloneDX 1.5 as JSON."""

from __future__ import annotations

import json
import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

__all__ = ["list_components", "write_sbom"]

_BUILDING = {"pip", "setuptools", "wheel"}


def list_components(packages: list[Distribution]) -> list[dict[str, Any]]:
    """One component for each package, by name.

    packages: with metadata.
    """
    components = {}
    for package in packages:
        name, version = package.metadata["Name"], package.version
        normal = name.lower().replace("_", "-")
        if normal in _BUILDING or normal == "privact":
            continue
        purl = f"pkg:pypi/{normal}@{version}"
        metadata = package.metadata.json
        license = str(metadata.get("license_expression") or metadata.get("license") or "")
        component: dict[str, Any] = {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}
        if license and len(license) < 100:
            component["licenses"] = [{"license": {"name": license}}]
        components[normal] = component
    return [components[name] for name in sorted(components)]


def write_sbom(path: Path) -> int:
    """Write the bill of this environment; how many components it lists.

    path: the file to write.
    """
    packages = list(distributions())
    version = next((package.version for package in packages if package.metadata["Name"] == "privact"), "0")
    components = list_components(packages)
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "privact", "version": version, "bom-ref": "privact"}},
        "components": components,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return len(components)


if __name__ == "__main__":
    print(f"{write_sbom(Path(sys.argv[1]))} components in {sys.argv[1]}")
