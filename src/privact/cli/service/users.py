"""privact users: who is enrolled with an aggregator."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from privact.cli.program import make_group
from privact.cli.service.confirm import Yes, asks, confirm
from privact.cli.service.invitations import Folder, Page, check_folder, write_invitations
from privact.cli.service.operator import LOCAL_URL, PlainHttp, TokenFile, Url, call, in_path
from privact.cli.text import Json, print_json, shown

__all__ = ["app"]

app = make_group("Enrol, list and remove users of an aggregator.")

_AT_ONCE = 10_000
_MOST_NAMED = 5
_User = Annotated[str, typer.Argument(metavar="USER", help="A user id in any spelling.", show_default=False)]


@app.callback()
def users() -> None:
    """Enrol, list and remove users of an aggregator."""


@app.command(
    epilog="\b\nExample:\n  privact users add users.txt --invitations invitations\n  privact users add users.txt -o tokens.tsv"
)
def add(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="One user id per line; - for standard input.", show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="A new file for the tokens, for your eyes only.", show_default="stdout"
        ),
    ] = None,
    invitations: Folder = None,
    page: Page = None,
    url: Url = LOCAL_URL,
    token_file: TokenFile = None,
    allow_plain_http: PlainHttp = False,
    json: Json = False,
) -> None:
    """Enrol users.

    Each new user gets one token, shown this once: lines 'user<TAB>token'. Hand each token to its user over a private channel. Who
    is enrolled already keeps the token; privact users token makes a new one.

    With --invitations each new user also gets an invitation: a link that works once, as a text to mail and as a QR code. Tokens
    are then printed only into the file of -o.
    """
    ids = _read(file)
    if invitations is not None:
        check_folder(invitations)
    enrolled: dict[str, str] = {}
    existing: list[str] = []
    try:
        with ExitStack() as closing:
            stream = None if output is None else closing.enter_context(_private(output))
            for begin in range(0, len(ids), _AT_ONCE):
                response = call(
                    "POST",
                    url,
                    "/v1/users",
                    document={"users": ids[begin : begin + _AT_ONCE], "invite": invitations is not None},
                    token_file=token_file,
                    allow_plain_http=allow_plain_http,
                )
                enrolled |= response["tokens"]
                existing += response["existing"]
                if invitations is not None:
                    _write_links(invitations, response["invitations"], url, page)
                if stream is not None or not (json or invitations):
                    _hand_over(response["tokens"], stream)
    finally:  # tokens that were given are shown, whatever happens to the rest
        if json and (enrolled or existing):
            summary: dict[str, Any] = {"enrolled": len(enrolled), "existing": existing}
            kept = {"tokens": enrolled} if output is None and invitations is None else {}
            places = {"output": output, "invitations": invitations}
            print_json(summary | kept | {name: str(place) for name, place in places.items() if place is not None})
        elif enrolled or existing:
            _say_how_many(len(enrolled), existing, invitations)


@app.command(epilog="\b\nExample:\n  privact users invite ada@a.example bob@b.example --invitations renewed")
def invite(
    users: Annotated[list[str], typer.Argument(metavar="USER...", help="Enrolled users in any spelling.", show_default=False)],
    invitations: Folder = None,
    page: Page = None,
    url: Url = LOCAL_URL,
    token_file: TokenFile = None,
    allow_plain_http: PlainHttp = False,
    json: Json = False,
) -> None:
    """Invite enrolled users, or renew their invitations: earlier ones are worthless from then on.

    Prints lines 'user<TAB>link', or writes links, texts and QR codes into a new folder. A user's token stays until the
    invitation is used.
    """
    if invitations is not None:
        check_folder(invitations)
    document = {"users": users}
    response = call("POST", url, "/v1/users/invite", document=document, token_file=token_file, allow_plain_http=allow_plain_http)
    if invitations is not None:
        _write_links(invitations, response["invitations"], url, page)
    links = _make_links(response["invitations"], url, page)
    if json:
        print_json({"links": links} if invitations is None else {"invited": len(links), "invitations": str(invitations)})
    elif invitations is None:
        print("".join(f"{shown(user)}\t{link}\n" for user, link in links.items()), end="")
    else:
        print(f"1 invitation is in {invitations}." if len(links) == 1 else f"{len(links):,} invitations are in {invitations}.")


@app.command(epilog="\b\nExample:\n  privact users revoke ada@a.example")
def revoke(
    user: _User, url: Url = LOCAL_URL, token_file: TokenFile = None, allow_plain_http: PlainHttp = False, json: Json = False
) -> None:
    """Make a user's invitation and token worthless; the user stays enrolled, and privact users invite invites again."""
    document = {"user": user}
    response = call("POST", url, "/v1/users/revoke", document=document, token_file=token_file, allow_plain_http=allow_plain_http)
    if json:
        print_json({"revoked": response["user"]})
    else:
        print(f"{shown(response['user'])} has neither a token nor an invitation now.")


@app.command("list", epilog="\b\nExample:\n  privact users list")
def list_(url: Url = LOCAL_URL, token_file: TokenFile = None, allow_plain_http: PlainHttp = False, json: Json = False) -> None:
    """Show who is enrolled, in the order of enrolment."""
    from privact.cli.times import write_time

    listed: list[dict[str, Any]] = []
    after: int | None = 0
    while after is not None:
        path = f"/v1/users?limit={_AT_ONCE}&after={after}"
        response = call("GET", url, path, token_file=token_file, allow_plain_http=allow_plain_http)
        after = response["next"]
        if json:
            listed += response["users"]
        for user in [] if json else response["users"]:
            invited = {"waiting": "  (invited)", "used": "  (joined)"}.get(user["invitation"], "")
            print(f"{write_time(user['enrolled_at'])}  {shown(user['user'])}{invited}")
    if json:
        print_json({"users": listed, "total": response["total"]})


@app.command(epilog="\b\nExample:\n  privact users token ada@a.example")
def token(
    user: _User, url: Url = LOCAL_URL, token_file: TokenFile = None, allow_plain_http: PlainHttp = False, json: Json = False
) -> None:
    """Give a user a new token, shown this once; the old one is worthless from then on."""
    document = {"user": user}
    response = call("POST", url, "/v1/users/token", document=document, token_file=token_file, allow_plain_http=allow_plain_http)
    if json:
        print_json(response)
    else:
        print(response["token"])


@app.command(epilog="\b\nExample:\n  privact users remove ada@a.example")
def remove(
    user: _User,
    erase: Annotated[
        bool, typer.Option("--erase", help="Also erase reports and ids; released trees keep a leaf without a name.")
    ] = False,
    yes: Yes = False,
    url: Url = LOCAL_URL,
    token_file: TokenFile = None,
    allow_plain_http: PlainHttp = False,
    json: Json = False,
) -> None:
    """Remove a user: the token is worthless, and future rounds leave the user out.

    Accepted reports stay, unless --erase is given; at a terminal that asks first. Labels of a round that still takes reports
    go by themselves when it has ended. Backups keep what was erased until they are thrown away.
    """
    if erase and asks(yes):
        confirm(f"Erasing {shown(user)} deletes all reports and every mention of the id; it cannot be undone. Erase?")
    path = f"/v1/users/{in_path(user)}" + ("?erase=true" if erase else "")
    response = call("DELETE", url, path, token_file=token_file, allow_plain_http=allow_plain_http)
    waits_for = (response or {}).get("waits_for", [])
    if json:
        print_json({"removed": user, "erased": erase, "waits_for": waits_for})
        return
    print(f"{shown(user)} is {'erased' if erase else 'removed'}.")
    if waits_for:
        print(f"What {', '.join(waits_for)} still needs, such as the label there, is erased by itself when it has ended.")


@app.command(epilog="\b\nExample:\n  privact users discoverable ada@a.example --no")
def discoverable(
    user: _User,
    yes: Annotated[bool, typer.Option("--yes/--no", help="Whether others may be told about the user.", show_default=False)],
    url: Url = LOCAL_URL,
    token_file: TokenFile = None,
    allow_plain_http: PlainHttp = False,
    json: Json = False,
) -> None:
    """Let a user be recommended to others, or not. Users can also say so themselves, at /me."""
    document = {"user": user, "discoverable": yes}
    path = "/v1/users/discoverable"
    response = call("PUT", url, path, document=document, token_file=token_file, allow_plain_http=allow_plain_http)
    if json:
        print_json(response)
    else:
        print(f"{shown(response['user'])} is {'recommended to others' if yes else 'recommended to nobody'}.")


@app.command("revoke-all", epilog="\b\nExample:\n  privact users revoke-all")
def revoke_all(
    yes: Yes = False,
    url: Url = LOCAL_URL,
    token_file: TokenFile = None,
    allow_plain_http: PlainHttp = False,
    json: Json = False,
) -> None:
    """Make every user's token and invitation worthless, as after restoring a backup; privact users invite makes new ones."""
    if asks(yes):
        confirm("No user can answer a round until each has a new token or invitation. Make all of them worthless?")
    response = call("POST", url, "/v1/users/revoke-all", token_file=token_file, allow_plain_http=allow_plain_http)
    if json:
        print_json(response)
    else:
        print(f"The tokens and invitations of {response['revoked']:,} users are worthless now.")


def _read(file: Path) -> list[str]:
    """The ids of a file, one per line; empty lines and lines that begin with # are left out."""
    from privact.errors import InputError

    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read {file}: {(error.strerror or str(error)).lower()}") from None
    except UnicodeDecodeError:
        raise InputError(f"{file} is not UTF-8 text: give one user id per line") from None
    ids = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if not ids:
        raise InputError(f"{file} names no user: give one user id per line")
    return ids


def _private(path: Path) -> IO[str]:
    """A new file that only its owner can read; an old one is never overwritten, since its tokens exist nowhere else."""
    from privact.cli.files import check_output
    from privact.errors import InputError

    check_output(path)
    try:
        return open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8")
    except FileExistsError:
        raise InputError(f"{path} is there already and may hold tokens that are kept nowhere else: name a new file") from None
    except OSError as error:
        raise InputError(f"cannot write {path}: {(error.strerror or str(error)).lower()}") from None


def _hand_over(tokens: dict[str, str], stream: IO[str] | None) -> None:
    """Write tokens and make sure that they are written before more users are enrolled."""
    print("".join(f"{user}\t{token}\n" for user, token in tokens.items()), end="", file=stream, flush=True)
    if stream is not None:
        os.fsync(stream.fileno())


def _write_links(folder: Path, codes: dict[str, str], url: str, page: str | None) -> None:
    """Write invitations as files."""
    write_invitations(folder, _make_links(codes, url, page))


def _make_links(codes: dict[str, str], url: str, page: str | None) -> dict[str, str]:
    """The link of each invitation."""
    from privact.protocol.addresses import aggregator_address
    from privact.protocol.invitation_links import invitation_link

    address = aggregator_address(url, allow_plain_http=True)
    return {user: invitation_link(address, code, page) for user, code in codes.items()}


def _say_how_many(n_enrolled: int, existing: list[str], invitations: Path | None) -> None:
    """Tell on stderr what happened; stdout holds tokens only."""
    who = "1 user is" if n_enrolled == 1 else f"{n_enrolled:,} users are"
    what = "the tokens" if invitations is None else f"the invitations in {invitations}"
    kept = f"; keep {what} safe, they are not shown again" if n_enrolled else ""
    print(f"privact: {who if n_enrolled else 'nobody new is'} enrolled{kept}", file=sys.stderr)
    if existing:
        named = ", ".join(shown(user) for user in existing[:_MOST_NAMED]) + (", ..." if len(existing) > _MOST_NAMED else "")
        print(f"privact: {len(existing):,} were enrolled before or named twice: {named}", file=sys.stderr)
