"""What would be released works: sdist and wheels are built and looked into, and run from wheels in empty environments."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXTRAS = "server,device,plot"
USERS = 300
MOST_DEVICE_MB = 350
MOST_START_SECONDS = 0.5  # of processor time

IN_WHEEL = (
    "privact/py.typed",
    "privact/aggregator/pages/static/index.html",
    "privact/aggregator/pages/static/pages.css",
    "privact/aggregator/storage/migrations/env.py",
    "privact/aggregator/storage/migrations/versions/first_tables.py",
    "privact/aggregator/storage/migrations/versions/invitations_table.py",
    "privact/aggregator/storage/migrations/versions/trust_tables.py",
    "privact/device/page/static/index.html",
    "privact/device/page/static/vendor/noble-hashes/LICENSE.txt",
    "privact/drawing/explorer/explorer.js",
    "privact/drawing/explorer/explorer.css",
    "privact/drawing/explorer/d3-hierarchy-LICENSE.txt",
)
IN_SDIST = (
    "CHANGELOG.md",
    "LICENSE",
    "README.md",
    "deploy/Dockerfile",
    "mkdocs.yml",
    "packaging/device/pyproject.toml",
    "pyproject.toml",
    "tests/conftest.py",
)
NOT_IN_WHEEL = ("tests/", "docs/", "tools/", "__pycache__/")
DATA = (".gz", ".zip", ".parquet", ".hct", ".sqlite3", ".nbi", ".nbc")
DEMO = ("one-round.png", "series.png", "series.hct", "tree.html", "tree.png", "tree.hct", "contacts.tsv", "servers.tsv")


def main() -> None:
    """Build, look, install, run; the first thing that is wrong ends it with one line."""
    with tempfile.TemporaryDirectory(prefix="privact-release-") as name:
        folder = Path(name)
        say("building sdist and wheel")
        run(sys.executable, "-m", "build", "--outdir", str(folder / "dist"), str(ROOT), quiet=True)
        (wheel,) = (folder / "dist").glob("*.whl")
        (sdist,) = (folder / "dist").glob("*.tar.gz")
        check_names(wheel, sdist)
        say(f"installing {wheel.name} with [{EXTRAS}] into an empty environment")
        venv.create(folder / "empty", with_pip=True)
        binaries = folder / "empty" / ("Scripts" if sys.platform == "win32" else "bin")
        run(str(binaries / "python"), "-m", "pip", "install", "--quiet", f"{wheel}[{EXTRAS}]", quiet=True)
        bill = ROOT / "dist" / f"{wheel.name.rsplit('-py', 1)[0]}.cdx.json"
        run(str(binaries / "python"), str(ROOT / "tools" / "write_sbom.py"), str(bill), quiet=True)
        say(f"what it brings is listed in dist/{bill.name}")
        say("running the demo from it")
        run(str(binaries / "privact"), "demo", "--users", str(USERS), "-o", "demo", cwd=folder, quiet=True)
        missing = [file for file in DEMO if not (folder / "demo" / file).stat().st_size]
        require(not missing, f"the demo wrote nothing into {', '.join(missing)}")
        run(str(binaries / "privact"), "info", str(folder / "demo" / "tree.hct"), cwd=folder, quiet=True)
        check_device(folder)
        size = wheel.stat().st_size / 2**20
        say(f"well: {sdist.name}, {wheel.name} ({size:.1f} MB)")


def check_device(folder: Path) -> None:
    """The device alone runs by `pipx run` from its wheel, is small, and starts quickly."""
    say("running privact-device with pipx")
    run(sys.executable, "-m", "build", "--wheel", "--outdir", str(folder / "device"), str(ROOT / "packaging/device"), quiet=True)
    (wheel,) = (folder / "device").glob("*.whl")
    venv.create(folder / "pipx", with_pip=True)
    binaries = folder / "pipx" / ("Scripts" if sys.platform == "win32" else "bin")
    run(str(binaries / "python"), "-m", "pip", "install", "--quiet", "pipx", quiet=True)
    home = folder / "pipx-home"
    places = {"PIPX_HOME": str(home), "PIPX_BIN_DIR": str(home / "bin"), "PIPX_MAN_DIR": str(home / "man")}
    command = [str(binaries / "pipx"), "run", "--spec", str(wheel), "privact-device"]
    for arguments in (["--help"], ["page", "-o", str(folder / "page")]):
        run(*command, *arguments, cwd=folder, quiet=True, environment=places)
    require((folder / "page" / "SHA256SUMS").is_file(), "privact-device wrote no page")
    (program,) = (path for path in home.rglob("privact-device*") if path.is_file() and path.parent.name in ("bin", "Scripts"))
    size = sum(path.lstat().st_size for path in program.parents[1].rglob("*")) / 2**20
    require(size <= MOST_DEVICE_MB, f"privact-device takes {size:.0f} MB installed; at most {MOST_DEVICE_MB} are promised")
    before = sum(os.times()[2:4])
    run(str(program), "--help", cwd=folder, quiet=True)
    seconds = sum(os.times()[2:4]) - before
    require(seconds < MOST_START_SECONDS, f"privact-device needs {seconds:.2f} s to start; {MOST_START_SECONDS} are promised")
    say(f"{wheel.name} takes {size:.0f} MB installed, and {seconds:.2f} s of processor time to start")


def check_names(wheel: Path, sdist: Path) -> None:
    """Both hold what they must, and nothing that they must not."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    for wanted in IN_WHEEL:
        require(wanted in names, f"{wheel.name} lacks {wanted}")
    for found in names:
        foreign = found.startswith(NOT_IN_WHEEL) or "__pycache__" in found or found.endswith(DATA)
        require(not foreign, f"{wheel.name} holds {found}, which is not part of the package")
    with tarfile.open(sdist) as archive_file:
        inside = {member.partition("/")[2] for member in archive_file.getnames()}
    for wanted in IN_SDIST:
        require(wanted in inside, f"{sdist.name} lacks {wanted}")
    say(f"{len(names)} files in the wheel, {len(inside)} in the sdist")


def run(*command: str, cwd: Path | None = None, quiet: bool = False, environment: dict[str, str] | None = None) -> None:
    """Run a command outside of the repository; its output is shown if it fails."""
    known = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | (environment or {})
    done = subprocess.run(command, cwd=cwd, text=True, capture_output=quiet, check=False, env=known)
    require(done.returncode == 0, f"{' '.join(command)} ended with {done.returncode}\n{done.stdout or ''}{done.stderr or ''}")


def require(well: bool, problem: str) -> None:
    """End with a problem unless all is well."""
    if not well:
        sys.exit(f"release-check: {problem}")


def say(what: str) -> None:
    """Tell a person how far it is."""
    print(f"release-check: {what}", flush=True)


if __name__ == "__main__":
    main()
