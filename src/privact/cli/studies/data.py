"""privact data: the paper's datasets, from their official places or from archives on this machine."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privact.cli.files import DataFolder
from privact.cli.program import make_group
from privact.cli.text import Json, paragraph, print_json, table
from privact.errors import InputError, PrivaCTError
from privact.progress import progress_bar

if TYPE_CHECKING:
    from privact.network.fetch import Fetched
    from privact.network.sources import Source

app = make_group("Get the paper's datasets from where they are published.")

Folder = Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder of the datasets; made if missing.")]
Archive = Annotated[
    Path | None, typer.Option("--from", metavar="ARCHIVE", help="Import this copy of the archive; nothing is downloaded.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Agree to the terms without being asked.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="lastfm, delicious or douban.", show_default=False)]

_DECLINED = 1


@app.callback()
def data() -> None:
    """Get the paper's datasets from where they are published. They may not be shipped with this product."""


@app.command(
    epilog="\b\nExample:\n  privact data get lastfm -o data\n  privact data get lastfm --from hetrec2011-lastfm-2k.zip -o data"
)
def get(name: Name, archive: Archive = None, output: Folder = Path("data"), yes: Yes = False, as_json: Json = False) -> None:
    """Download a dataset, or import a copy of its archive.

    Shows source, size, checksum and licence first, and asks. Writes DIR/NAME/social.tsv.gz and DIR/NAME/ratings.tsv.gz, both or
    neither.
    """
    from privact.network.fetch import check_files, explain_manual_download, fetch_dataset, import_dataset
    from privact.network.sources import find_source

    source = find_source(name)
    there = check_files(source, output)
    if there:
        _say_already(source, output, as_json)
        return
    if there is False:
        raise InputError(f"{output / name} holds other files: remove it first, or choose another folder with -o")
    if archive is not None:
        if not as_json:
            _show(source, f"{_bytes_of(archive):,} bytes, {archive}", output)
        found = import_dataset(source, archive, output)
    else:
        _agree(source, output, yes, as_json, explain_manual_download(source, output))
        with progress_bar(quiet=as_json) as progress:
            found = fetch_dataset(source, output, progress)
    _say_done(source, found, output, as_json)


@app.command("list", epilog="\b\nExample:\n  privact data list --data data")
def list_datasets(data: DataFolder = None, as_json: Json = False) -> None:
    """The datasets: where they come from, and which are here."""
    import os

    from privact.network.datasets import DATA_VARIABLE, TABLE_1
    from privact.network.fetch import check_files
    from privact.network.sources import SOURCES

    folder = data if data is not None else Path(os.environ.get(DATA_VARIABLE) or "data")
    here = {source.name: check_files(source, folder) for source in SOURCES.values()}
    words = {None: "no", True: "yes", False: "other content"}
    if as_json:
        rows = [{**_describe(source), "here": words[here[source.name]]} for source in SOURCES.values()]
        print_json({"folder": str(folder), "datasets": rows})
        return
    table(
        ["name", "users", "contacts", f"in {folder}", "from"],
        [
            [name, f"{TABLE_1[name].n_users:,}", f"{TABLE_1[name].n_edges:,}", words[here[name]], source.address or "by hand"]
            for name, source in SOURCES.items()
        ],
        right=(1, 2),
    )


def _agree(source: Source, output: Path, yes: bool, as_json: bool, explain_manual_download: str) -> None:
    """Show what would be downloaded, and ask."""
    from privact.network.downloads import ask_size

    if as_json and not yes:
        raise InputError("--json does not ask: add --yes to agree to the terms that the command shows without --json")
    size: int | None = None
    unreachable = ""
    if source.address is not None:
        try:
            size = ask_size(source.address)
        except PrivaCTError as error:
            unreachable = f"{error}; {explain_manual_download}"
    if not as_json:
        _show(source, "not known" if size is None else f"{size:,} bytes", output)
    if source.address is None:
        raise InputError(f"{source.name} has no address that a program can fetch: {explain_manual_download}")
    if unreachable:
        raise PrivaCTError(unreachable)
    if yes:
        return
    if not _is_interactive():
        raise InputError(f"the terms of {source.name} need agreement, and input is not a terminal: add --yes")
    print("\nDownload it under these terms? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        print("Nothing was downloaded.")
        raise typer.Exit(_DECLINED)


def _is_interactive() -> bool:
    return sys.stdin.isatty()


def _show(source: Source, size: str, output: Path) -> None:
    checksum = f"SHA-256 {source.archive_sha256}"
    if source.archive_sha256 is None:
        checksum = f"none is known for the archive; the contacts inside must have SHA-256 {source.contacts_sha256}"
    described = {
        "dataset": source.title,
        "from": source.page,
        "archive": source.address or source.archive,
        "size": size,
        "checksum": checksum,
        "licence": source.licence,
        "cite": source.cite,
        "goes to": str(output / source.name),
    }
    for name, value in described.items():  # addresses and checksums stay whole, to be copied
        lines = textwrap.wrap(value, 70, break_long_words=False, break_on_hyphens=False)
        print("\n".join(f"{name if number == 0 else '':10}{line}" for number, line in enumerate(lines)))
    sys.stdout.flush()


def _bytes_of(archive: Path) -> int:
    try:
        return archive.stat().st_size
    except OSError as error:
        raise InputError(f"cannot read {archive}: {(error.strerror or str(error)).lower()}") from None


def _describe(source: Source) -> dict[str, Any]:
    return {
        "name": source.name,
        "title": source.title,
        "page": source.page,
        "address": source.address,
        "archive": source.archive,
        "archive_sha256": source.archive_sha256,
        "contacts_sha256": source.contacts_sha256,
        "ratings_sha256": source.ratings_sha256,
        "licence": source.licence,
        "cite": source.cite,
    }


def _say_already(source: Source, output: Path, as_json: bool) -> None:
    if as_json:
        print_json({"source": _describe(source), "already_there": True, "folder": str(output / source.name)})
    else:
        print(f"{source.name} is in {output / source.name} already, with the content that it should have.")


def _say_done(source: Source, found: Fetched, output: Path, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "source": _describe(source),
                "already_there": False,
                "folder": str(output / source.name),
                "files": [str(path) for path in found.files],
                "n_contacts": found.n_contacts,
                "n_ratings": found.n_ratings,
                "archive_sha256": found.archive_sha256,
                "same_archive": found.same_archive,
                "same_ratings": found.same_ratings,
            }
        )
        return
    told = {True: ", as it should be", False: ", another packing of the same content", None: ""}[found.same_archive]
    print()
    paragraph(f"The archive has SHA-256 {found.archive_sha256}{told}. Its contacts are those that the paper used.")
    if not found.same_ratings:
        paragraph(
            "Its ratings are counted otherwise than in the copy that our published numbers were measured with: expect other "
            "numbers in tables 3 to 5."
        )
    print(f"Written: {', '.join(str(path) for path in found.files)}")
    print(f"{found.n_contacts:,} contacts, {found.n_ratings:,} ratings. Next: privact reproduce all --data {output}")
