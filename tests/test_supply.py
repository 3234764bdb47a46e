"""What is installed on a server is locked by hash, and what a release holds is listed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def read_lock(name: str) -> dict[str, list[str]]:
    """The hashes of each package of a lock file."""
    text = (ROOT / "deploy" / f"requirements-{name}.lock").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=[a-z0-9])", text)
    return {re.split(r"[=\[ ]", entry)[0]: re.findall(r"--hash=sha256:([0-9a-f]{64})", entry) for entry in entries}


@pytest.mark.parametrize(("name", "extras"), [("server", ["server"]), ("dev", ["server", "device", "plot", "dev"])])
def test_every_requirement_is_locked_with_hashes(name: str, extras: list[str]) -> None:
    lock = read_lock(name)
    wanted = PROJECT["dependencies"] + [each for extra in extras for each in PROJECT["optional-dependencies"][extra]]
    names = {re.split(r"[<>=\[; ]", each)[0].lower().replace("_", "-") for each in wanted}
    assert names - set(lock) == set()
    assert [package for package, hashes in lock.items() if not hashes] == []


def test_the_image_installs_locked_packages_only() -> None:
    text = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
    assert "--require-hashes -r deploy/requirements-server.lock" in text
    assert "--no-deps" in text  # the package itself brings nothing that is not locked


def test_a_bill_of_materials_lists_what_is_installed(tmp_path: Path) -> None:
    path = tmp_path / "sbom.json"
    subprocess.run([sys.executable, str(ROOT / "tools" / "write_sbom.py"), str(path)], check=True, capture_output=True)
    document = json.loads(path.read_text(encoding="utf-8"))
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.5")
    components = {component["name"].lower(): component for component in document["components"]}
    assert {"numpy", "fastapi", "opendp"} <= set(components)
    assert components["numpy"]["purl"] == f"pkg:pypi/numpy@{components['numpy']['version']}"
