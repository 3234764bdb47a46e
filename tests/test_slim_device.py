"""privact-device: the device alone, from the same files, without NumPy and whatever else only servers and experiments need."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGING = ROOT / "packaging" / "device"
DEVICE = tomllib.loads((PACKAGING / "pyproject.toml").read_text(encoding="utf-8"))
WHOLE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

# Every import of a package that privact-device does not bring fails, as it would where only it is installed.
WITHOUT_THE_REST = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"numpy", "numba", "scipy", "pyarrow", "pandas", "fastapi", "sqlalchemy", "starlette",
                                      "fastcluster", "threadpoolctl", "pooch", "requests", "networkx", "sklearn", "matplotlib"}:
            raise ImportError(f"{name} is not installed here")
sys.meta_path.insert(0, Missing())
"""

IMPORT_ALL = """
import importlib, pkgutil, privact
names = [module.name for module in pkgutil.walk_packages(privact.__path__, "privact.")]
for name in names:
    importlib.import_module(name)
print(len(names))
"""

MAKE_A_REPORT = """
from privact.device import make_report
from privact.protocol import LabelTable, Round
table = LabelTable.from_labels({"bob": 0, "cleo": 2}, 3, key=bytes(16))
bins = {"bins": "labels", "labels_digest": table.digest()}
print(make_report(["bob", "@Cleo", "dan"], Round(id="r", epsilon=2000.0, n_bins=3, n_users=9, **bins), "ada", table).vector)
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of the wheel."""
    folder = tmp_path_factory.mktemp("device")
    for source, target in DEVICE["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"].items():
        (folder / target).parent.mkdir(parents=True, exist_ok=True)
        path = PACKAGING / source
        if path.is_dir():
            shutil.copytree(path, folder / target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(path, folder / target)
    return folder


def run(installed: Path, program: str) -> str:
    """What a program prints where only the device is installed."""
    command = [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(installed)!r})\n{WITHOUT_THE_REST}{program}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_module_is_there_and_needs_nothing_else(installed: Path) -> None:
    assert int(run(installed, IMPORT_ALL)) > 40


def test_it_makes_reports_without_numpy(installed: Path) -> None:
    assert run(installed, MAKE_A_REPORT).strip() == "(1, 0, 1)"


def test_help_names_its_own_command(installed: Path) -> None:
    start = "sys.argv = ['/usr/bin/privact-device', 'join', '--help']\nfrom privact.cli.device.main import main\nmain()"
    text = run(installed, start)
    assert "Usage: privact-device join" in text
    assert "privact-device join https://clusters.example" in text
    assert "privact device" not in text


def test_errors_name_its_own_command(installed: Path, tmp_path: Path) -> None:
    start = f"sys.argv = ['privact-device', 'status', '--home', {str(tmp_path)!r}]\nfrom privact.cli.device.main import main\n"
    program = f"{start}import contextlib\nwith contextlib.redirect_stderr(sys.stdout), contextlib.suppress(SystemExit): main()"
    assert run(installed, program).rstrip().endswith("run `privact-device join LINK` with your invitation")


def test_nothing_heavy_is_loaded_before_a_command_needs_it(installed: Path) -> None:
    loaded = run(installed, "import privact.cli.device.main; print(*sys.modules)").split()
    assert not {"opendp", "httpx", "nacl", "rich"} & set(loaded)


def test_both_distributions_ask_for_the_same_versions() -> None:
    whole = WHOLE["project"]
    known = {*whole["dependencies"], *whole["optional-dependencies"]["device"]}
    assert set(DEVICE["project"]["dependencies"]) <= known
    assert re.search(DEVICE["tool"]["hatch"]["version"]["pattern"], (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
