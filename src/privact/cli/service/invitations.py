"""Invitations as files: a text to mail and a QR code for each user, and one list of all links."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Annotated, Final

import typer

from privact.errors import InputError, MissingExtraError

__all__ = ["Folder", "Page", "check_folder", "write_invitations"]

Folder = Annotated[
    Path | None,
    typer.Option("--invitations", metavar="DIR", help="A new folder for links, texts to mail and QR codes.", show_default=False),
]
Page = Annotated[
    str | None,
    typer.Option("--page", metavar="URL", help="Where the page for browsers lives.", show_default="/join of the aggregator"),
]

_LINKS: Final = "links.tsv"
_TEXT: Final = """Hello,

you are invited to take part in finding the communities of our network. Nobody
sees your contacts: they are counted on your own device, and only blurred
numbers leave it, after you have seen them and said yes.

Open this link on your phone or computer. It is for {user} only, and it works
once:

{link}

You need a file with your contacts, such as an export of the accounts that you
follow or of your address book. The page says the rest.

In a terminal instead: privact device join '{link}'
"""


def check_folder(folder: Path) -> None:
    """Refuse a folder that holds something, before anybody is enrolled: invitations exist nowhere else."""
    try:
        if folder.exists() and any(folder.iterdir()):
            raise InputError(f"{folder} is not empty and may hold invitations that are kept nowhere else: name a new folder")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
    except OSError as error:
        raise InputError(f"cannot write {folder}: {(error.strerror or str(error)).lower()}: choose another folder") from None
    _import_segno()


def write_invitations(folder: Path, links: Mapping[str, str]) -> None:
    """Write what each user is sent, for the owner of the folder only; a folder that holds some gets more.

    folder: as check_folder left it. links: link of each user's invitation, by id.
    """
    segno = _import_segno()
    before = len(list(folder.glob("*.txt")))
    try:
        with open(os.open(folder / _LINKS, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "a", encoding="utf-8") as listed:
            listed.writelines(f"{user}\t{link}\n" for user, link in links.items())
            listed.flush()
            os.fsync(listed.fileno())
        for number, (user, link) in enumerate(links.items(), before + 1):
            stem = folder / f"{number:05}-{re.sub(r'[^A-Za-z0-9@._-]', '_', user)[:80]}"
            _write(stem.with_name(f"{stem.name}.txt"), _TEXT.format(user=user, link=link).encode())
            picture = stem.with_name(f"{stem.name}.png")
            _write(picture, b"")
            segno.make(link, error="m").save(str(picture), scale=6)
    except OSError as error:
        raise InputError(f"cannot write into {folder}: {(error.strerror or str(error)).lower()}: links are in {_LINKS}") from None


def _write(path: Path, content: bytes) -> None:
    """Write a new file that only its owner can read."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)


def _import_segno() -> ModuleType:
    """The library that draws QR codes."""
    try:
        import segno
    except ImportError:
        raise MissingExtraError("segno", "server", "drawing invitations") from None
    return segno
