"""privact device page: the device for a browser, written as files or compared with what a server hands out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privact.cli.text import Json, print_json

__all__ = ["page"]


def page(
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="DIR", help="Write the page's files here.", show_default=False)
    ] = None,
    verify: Annotated[
        str | None, typer.Option("--verify", metavar="URL", help="Compare the page that is served there.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """Write the device for a browser, or check a served one.

    The page is static files: any web server can hand them out, also another one than the aggregator. With --verify each file that
    a server sends is compared with this installation's. A server could send something else to somebody else.
    """
    from privact.errors import InputError

    if (output is None) == (verify is None):
        raise InputError("give -o DIR to write the page, or --verify URL to compare a served one: one of them")
    if output is not None:
        _write(output, json)
    elif verify is not None:
        _verify(verify, json)


def _write(folder: Path, json: bool) -> None:
    import hashlib

    from privact.device.page.publish import DIGESTS, digest_lines, write_page

    contents = write_page(folder)
    digest = hashlib.sha256(digest_lines(contents).encode()).hexdigest()
    if json:
        print_json({"folder": str(folder), "files": len(contents), "digests": DIGESTS, "sha256": digest})
        return
    print(f"{folder}: {len(contents)} files, {sum(map(len, contents.values())) // 1024} kB, digests in {DIGESTS}.")
    print(f"SHA-256 of {DIGESTS}: {digest}")


def _verify(url: str, json: bool) -> None:
    from privact.device.page.verify import compare_page
    from privact.errors import PrivaCTError

    n_compared, different = compare_page(url)
    if json:
        print_json({"url": url, "compared": n_compared, "different": [vars(each) for each in different]})
    elif not different:
        print(f"{url}: all {n_compared} files are those of this release.")
    if different:
        first = different[0]
        raise PrivaCTError(
            f"{len(different)} of {n_compared} files at {url} are not those of this release: {first.name}: {first.problem}"
        )
