"""privact demo: the whole way in one command, on a made-up network."""

from __future__ import annotations

import shlex
import shutil
import sys
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from privact.cli.text import Json, number, paragraph, print_json, shown, table

if TYPE_CHECKING:
    from privact.simulate.demo import CommunityView, Demo
    from privact.simulate.demo_series import Found

__all__ = ["app"]

app = typer.Typer()

_PICTURES = ("tree.html", "tree.png")
_FILES = ("one-round.png", "series.png", "series.hct", *_PICTURES, "tree.hct", "contacts.tsv", "servers.tsv")


@app.command(epilog="\b\nExample:\n  privact demo\n  privact demo --users 5000 -o results")
def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the files; files of a demo there are replaced.", metavar="DIR")
    ] = Path("demo"),
    users: Annotated[int, typer.Option(help="How many users.")] = 2000,
    seed: Annotated[int, typer.Option(help="Decides the network. The noise of devices has no seed.")] = 0,
    json: Json = False,
) -> None:
    """See it work on a made-up federated network.

    An aggregator is started on loopback, every device answers over HTTP with real noise, a tree is learned at epsilon 1, released
    and judged, and pictures of it are written. The aggregator and all it stored are gone afterwards. A series of rounds then
    finds communities without any labels, beside one round of the same epsilon; that is simulated in this process.
    """
    from privact.errors import InputError, MissingExtraError
    from privact.progress import progress_bar

    try:
        from privact.simulate.demo import play_demo
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "httpx", "device,server", "the demo") from None
    from privact.drawing.picture import check_kind

    if seed < 0:
        raise InputError(f"--seed {seed} is below 0: give a whole number of at least 0")
    if output.exists() and not output.is_dir():
        raise InputError(f"cannot write into {output}: it is not a folder: name another with -o")
    for name in _PICTURES:
        check_kind(name)
    begin = perf_counter()
    with progress_bar() as progress:
        played = play_demo(users, seed=seed, progress=progress)
        progress("drawing", 0, 0)
        files = _write(played, output)
    seconds = perf_counter() - begin
    if json:
        print_json(_document(played, files, seconds))
    else:
        _print_demo(played, files, seconds)


def _write(played: Demo, folder: Path) -> dict[str, Path]:
    """Write all files of the demo; one that is stopped leaves no new file, and none that was there is removed."""
    from privact.errors import InputError

    files = {name: folder / name for name in _FILES}
    new = [path for path in files.values() if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make folder {folder}: {(error.strerror or str(error)).lower()}") from None
    try:
        _fill(played, files)
    except BaseException:
        for path in new:
            path.unlink(missing_ok=True)
        raise
    return files


def _fill(played: Demo, files: dict[str, Path]) -> None:
    from privact.drawing.picture import save_picture
    from privact.storage import write_whole

    graph, network = played.network.graph, played.network
    homes = [network.server_names[server] for server in network.servers.tolist()]
    played.tree.save(files["tree.hct"])
    played.series.tree.save(files["series.hct"])
    for name in _PICTURES:
        save_picture(
            played.tree,
            files[name],
            title=f"{graph.n_users:,} users of a made-up federated network, from one noisy report each",
            notes=played.round.privacy_sentence(),
            highlight=played.user,
            groups=[homes[row].removesuffix(".example") for row in played.rows],
        )
    for name, found in (("one-round.png", played.one_round), ("series.png", played.series)):
        save_picture(
            found.tree,
            files[name],
            title=f"Without labels: {_way(found)}, epsilon {found.epsilon:g} in all",
            notes=f"Home servers were used for colour alone. {found.privacy_sentence()}",
            highlight=played.user,
            groups=[home.removesuffix(".example") for home in homes],
        )
    pairs = ((graph.users[one], graph.users[other]) for one, other in graph.edges().tolist())
    for name, rows in (
        ("contacts.tsv", [("user", "contact"), *pairs]),
        ("servers.tsv", [("user", "server"), *zip(graph.users, homes, strict=True)]),
    ):
        with write_whole(files[name]) as stream:
            stream.write("".join(f"{one}\t{other}\n" for one, other in rows).encode())


def _print_demo(played: Demo, files: dict[str, Path], seconds: float) -> None:
    graph = played.network.graph
    degree = len(graph.neighbours(played.user))
    paragraph(
        f"A made-up federated network: {graph.n_users:,} users on {len(played.network.server_names)} home servers, "
        f"{graph.n_edges:,} contacts. An aggregator was started on loopback; every device sent it one noisy report a round "
        f"({played.reports:,} reports over HTTP in {played.sending:.1f} s, each on disk before it was acknowledged); "
        "the contacts themselves stayed where they are."
    )
    _heading("What was promised")
    paragraph(played.round.privacy_sentence())
    print()
    paragraph(
        f"Two more rounds were played for comparison; on the same devices each would spend {played.round.epsilon:g} on top."
    )
    _heading("Share of true contacts among each user's nearest users in the tree")
    shares = [(quality.name, f"{quality.noisy:.1%}", f"{quality.exact:.1%}") for quality in played.qualities]
    table(("tree learned from", f"epsilon {played.round.epsilon:g}", "no noise"), shares, right=(1, 2))
    _print_series(played)
    _heading(f"Nearest to {shown(played.user)}, who has {degree} contacts, by home servers")
    rows = [(str(rank), user, number(size), "yes" if true else "") for rank, (user, true, size) in enumerate(played.nearest, 1)]
    table(("rank", "user", "share a community of", "true contact"), rows, right=(0, 2))
    _heading(f"Communities of {shown(played.user)}")
    rows = [
        (str(view.at_least), number(view.size), f"{view.contacts} ({view.by_chance:.1f})", _homes(view))
        for view in played.communities
    ]
    table(("at least", "users", "true contacts (by chance)", "home servers"), rows, right=(0, 1, 2))
    print("\nTrue contacts are known to this simulation only; by chance: among as many random users.")
    _heading(f"People whom {shown(played.user)} may know")
    table(("user", "why", "true contact"), [(user, reason, "yes" if true else "") for user, reason, true in played.people])
    print("\nFrom the reports alone. A device leaves out those whom it knows already.")
    _heading("Recommended to three users who shared no plays")
    rows = [
        (suggested.user if rank == 0 else "", item, reason, "yes" if true else "")
        for suggested in played.suggestions
        for rank, (item, reason, true) in enumerate(suggested.items)
    ]
    table(("user", "artist", "why", "plays it"), rows)
    print("\nThe order weighs communities of every size, a reason counts in the closest alone. What they really play is")
    print("known to this simulation only; it was not uploaded.")
    _heading(f"Written in {seconds:.0f} s")
    meanings = {
        "one-round.png": "without labels, before: one round over random bins, coloured by home server",
        "series.png": "without labels, after: a series of rounds, coloured by home server",
        "series.hct": "the tree of the series",
        "tree.html": "the tree to explore: open it in a browser",
        "tree.png": "the same as a still",
        "tree.hct": "the tree, as the aggregator released it",
        "contacts.tsv": "the made-up contacts, which no server would ever see",
        "servers.tsv": "the public home server of each user",
    }
    table(("file", "what it is"), [(str(path), meanings[name]) for name, path in files.items()])
    _heading("Try next")
    for command in _next_commands(played, files):
        print(f"  {command}")


def _print_series(played: Demo) -> None:
    from privact.learn.evidence.series_profile import SEES_NOTHING
    from privact.simulate.demo_series import CLOSE

    one, series = played.one_round, played.series
    _heading("Communities without home servers")
    paragraph(
        f"The same network, and nobody tells where users live: one round over random bins beside a series of {series.rounds} "
        "rounds, in which the groups inferred from the reports so far are the bins of the next round. Both spend epsilon "
        f"{series.epsilon:g} in all per contact, the series {series.epsilon / series.rounds:g} a round. Simulated in this "
        "process, not over HTTP."
    )
    print()
    rows = [
        (_way(found), ", ".join(map(str, found.bins)), f"{found.near:.1%}", f"{found.close:.1%} ({found.by_chance:.1%})")
        for found in (one, series)
    ]
    table(("reports", "bins", "among nearest", "in a close community (by chance)"), rows, right=(2, 3))
    print()
    paragraph(
        "Among nearest: the share of true contacts among as many nearest users as a user has contacts. In a close community: "
        f"the share of a user's true contacts who are in the user's community of about {CLOSE} users; by chance: in one of as "
        "many random users."
    )
    if not series.sees_communities:
        print()
        paragraph(f"The series found no communities: {SEES_NOTHING}.")


def _way(found: Found) -> str:
    return "one round over random bins" if found.rounds == 1 else f"a series of {found.rounds} rounds"


def _next_commands(played: Demo, files: dict[str, Path]) -> list[str]:
    again = shlex.quote(str(files["tree.hct"].with_name("again.hct")))
    path = {name: shlex.quote(str(file)) for name, file in files.items()}
    privact = shlex.quote("privact" if shutil.which("privact") else sys.argv[0])  # as it can be called from here
    return [
        f"{privact} community {path['tree.hct']} {shlex.quote(played.user)} --size 50",
        f"{privact} quality {path['tree.hct']} {path['contacts.tsv']}",
        f"{privact} community {path['series.hct']} {shlex.quote(played.user)} --size 50",
        f"{privact} learn {path['contacts.tsv']} --labels {path['servers.tsv']} --epsilon 2 -o {again}",
    ]


def _document(played: Demo, files: dict[str, Path], seconds: float) -> dict[str, object]:
    graph = played.network.graph
    return {
        "users": graph.n_users,
        "contacts": graph.n_edges,
        "epsilon": played.round.epsilon,
        "privacy": played.round.privacy_sentence(),
        "share_of_contacts": [asdict(quality) for quality in played.qualities],
        "user": played.user,
        "nearest": [{"user": user, "contact": true, "community_size": size} for user, true, size in played.nearest],
        "communities": [asdict(view) | {"servers": dict(view.servers)} for view in played.communities],
        "people": [{"user": user, "reason": reason, "contact": true} for user, reason, true in played.people],
        "recommended": [
            {
                "user": suggested.user,
                "items": [{"item": item, "reason": why, "plays": true} for item, why, true in suggested.items],
            }
            for suggested in played.suggestions
        ],
        "without_labels": [
            {
                "rounds": found.rounds,
                "epsilon": found.epsilon,
                "bins": found.bins,
                "sees_communities": found.sees_communities,
                "share_of_contacts": found.near,
                "contacts_in_close_community": found.close,
                "by_chance": found.by_chance,
            }
            for found in (played.one_round, played.series)
        ],
        "files": {name: str(path) for name, path in files.items()},
        "next": _next_commands(played, files),
        "seconds": round(seconds, 3),
    }


def _heading(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


def _homes(view: CommunityView) -> str:
    """The two most frequent home servers, in words."""
    return ", ".join(f"{count / view.size:.0%} {server.removesuffix('.example')}" for server, count in view.servers[:2])
