"""privact nearest, community, cut, info: what a tree answers."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privact.cli.files import TreePath, UserName, check_output, find_user
from privact.cli.text import Json, columns, facts, number, print_json, shown, table
from privact.cli.times import write_time

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from privact.tree.hct import HierarchicalClusterTree

__all__ = ["app"]

app = typer.Typer()

_CLUSTERS_SHOWN = 40
_USERS_SHOWN = 150


def _ids(tree: HierarchicalClusterTree) -> Sequence[str | int]:
    """The users in the order of the leaves."""
    return range(tree.n_users) if tree.users is None else tree.users


def _warn_of_one_round(tree: HierarchicalClusterTree) -> None:
    """Tell on standard error that a tree cannot show communities."""
    from privact.query.one_round import ONE_ROUND, is_one_round

    if is_one_round(tree.parameters):
        print(f"warning: {ONE_ROUND}", file=sys.stderr)


def _load(path: Path) -> HierarchicalClusterTree:
    from privact.tree.hct import HierarchicalClusterTree

    return HierarchicalClusterTree.load(path)


@app.command(epilog="\b\nExample:\n  privact nearest tree.hct ada -m 10")
def nearest(
    tree: TreePath,
    user: UserName,
    m: Annotated[int, typer.Option("-m", "--many", help="How many.", metavar="M")] = 10,
    json: Json = False,
) -> None:
    """The users nearest to a user, nearest communities first.

    With each comes the size of the smallest community that holds both. Users of one community are equally near; those in its
    larger clusters come first.
    """
    loaded = _load(tree)
    near = loaded.nearest(find_user(loaded, user), m)
    found = list(near)
    if json:
        listed = [{"user": other, "community_size": size} for other, size in found]
        print_json({"user": user, "nearest": listed, "tied": near.tied})
        return
    rows = [(str(rank), str(other), number(size)) for rank, (other, size) in enumerate(found, 1)]
    table(("rank", "user", "share a community of"), rows, right=(0, 2))
    last = sum(size == found[-1][1] for _, size in found) if found else 0
    if near.tied > last:
        print(f"\n{near.tied - last:,} more are as near as the last one")


@app.command(epilog="\b\nExample:\n  privact community tree.hct ada --size 50")
def community(
    tree: TreePath,
    user: UserName,
    size: Annotated[int, typer.Option(help="Target number of users; the result has at most twice as many.")] = 50,
    json: Json = False,
) -> None:
    """The close community of a user.

    The smallest cluster around the user with at least this number of users; where it has more than twice as many, the next
    smaller one.
    """
    loaded = _load(tree)
    found = loaded.community(find_user(loaded, user), size)
    alike = loaded.alike(find_user(loaded, user))
    if json:
        print_json({"user": user, "asked_size": size, "size": found.size, "alike": alike, "users": found.users})
        return
    _warn_of_one_round(loaded)
    print(f"The close community of {shown(user)} has {found.size:,} users:\n")
    columns([str(member) for member in found.users[:_USERS_SHOWN]])
    if found.size > _USERS_SHOWN:
        print(f"\nand {found.size - _USERS_SHOWN:,} more: all of them with --json")
    if found.size < size:
        above = int(loaded.size[loaded.parent[found.node]])
        print(f"\nThe next larger community has {above:,}, more than twice the {size:,} asked for.")
    if alike > found.size:
        print(f"\nThe tree cannot tell {shown(user)} apart from {alike - 1:,} others: which of them are listed is arbitrary.")


@app.command(
    epilog="\b\nExample:\n  privact cut tree.hct -k 20 --min-size 10 -o labels.tsv\n  privact cut tree.hct -k auto\n"
    "  privact cut tree.hct --min-size 50 --max-size 99"
)
def cut(
    tree: TreePath,
    k: Annotated[
        str | None,
        typer.Option("-k", "--clusters", help="How many clusters; auto leaves it to the tree.", metavar="K", show_default=False),
    ] = None,
    min_size: Annotated[
        int,
        typer.Option(help="With -k: users in smaller groups are in no cluster. With --max-size: minimum size.", metavar="SIZE"),
    ] = 1,
    max_size: Annotated[int | None, typer.Option(help="Or: the largest clusters of at most this number of users.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write lines 'user<TAB>cluster' here; a file there is replaced.", metavar="FILE"),
    ] = None,
    json: Json = False,
) -> None:
    """Cut a tree into clusters.

    Into k clusters, by always splitting the one with the most to part; or into the largest clusters of at most --max-size
    users; or, with both --min-size and --max-size, into clusters of such sizes where the tree has them. A tree without a
    balance floor loses users one by one: with -k and --min-size they are in no cluster (-1), and each of the k clusters has
    at least that number of users.
    """
    from privact.errors import InputError

    if (k is None) == (max_size is None):
        raise InputError("a cut needs either a number of clusters (-k 20) or a largest size (--max-size 100)")
    if output is not None:
        check_output(output)
    loaded = _load(tree)
    labels = _cut_by(loaded, k, min_size, max_size)
    if not json:
        _warn_of_one_round(loaded)
    if output is not None:
        _write_labels(loaded, labels, output)
    _report_cut(loaded, labels, output, json)


def _cut_by(tree: HierarchicalClusterTree, k: str | None, min_size: int, max_size: int | None) -> NDArray[np.int64]:
    """The labels of the cut that was asked for."""
    import numpy as np

    from privact.errors import InputError

    if k == "auto":
        return tree.cut("auto", min_size)
    if k is not None:
        if not k.isdecimal():
            raise InputError(f"-k {k} is neither a whole number nor auto: give for example -k 20")
        return tree.cut(int(k), min_size)
    if min_size == 1:
        return tree.cut_size(max_size or 0)
    labels = np.empty(tree.n_users, np.int64)
    for number_of, cluster in enumerate(tree.communities(min_size, max_size or 0)):
        labels[cluster.leaves] = number_of
    return labels


def _write_labels(tree: HierarchicalClusterTree, labels: NDArray[np.int64], path: Path) -> None:
    import csv
    import io

    from privact.storage import write_whole

    text = io.StringIO()
    lines = csv.writer(text, delimiter="\t", lineterminator="\n")
    lines.writerow(("user", "cluster"))
    lines.writerows(zip(_ids(tree), labels.tolist(), strict=True))
    with write_whole(path) as stream:
        stream.write(text.getvalue().encode())


def _report_cut(tree: HierarchicalClusterTree, labels: NDArray[np.int64], output: Path | None, json: bool) -> None:
    import numpy as np

    sizes = np.bincount(labels[labels >= 0])
    left = int((labels < 0).sum())
    if json:
        document = {"clusters": len(sizes), "sizes": sizes, "in_none": left, "output": None if output is None else str(output)}
        if output is None:
            document["labels"] = dict(zip(_ids(tree), labels.tolist(), strict=True))
        print_json(document)
        return
    print(f"{len(sizes):,} clusters of {tree.n_users:,} users, largest first:\n")
    along = np.maximum.accumulate(labels[tree.order])  # clusters are slices of the leaf order
    first = tree.order[np.searchsorted(along, np.arange(len(sizes)))]
    largest = np.lexsort((np.arange(len(sizes)), -sizes))[:_CLUSTERS_SHOWN]
    examples = tree.users_of(first[largest])
    rows = [
        (str(cluster), number(int(sizes[cluster])), f"{sizes[cluster] / tree.n_users:.1%}", str(example))
        for cluster, example in zip(largest.tolist(), examples, strict=True)
    ]
    table(("cluster", "users", "share", "such as"), rows, right=(0, 1, 2))
    if len(sizes) > len(largest):
        print(f"\nand {len(sizes) - len(largest):,} more with {int(sizes.sum() - sizes[largest].sum()):,} users")
    if left:
        print(f"\nin no cluster: {left:,}")
    if output is not None:
        print(f"\nwritten: {shown(output)}")


@app.command(epilog="\b\nExample:\n  privact info tree.hct")
def info(tree: TreePath, json: Json = False) -> None:
    """What a tree file holds, and what it promises."""
    from privact.cli.privacy import promise

    loaded = _load(tree)
    depths = loaded.depths
    parameters = dict(loaded.parameters)
    privacy = promise(parameters)
    if json:
        print_json(
            {
                "file": str(tree),
                "bytes": tree.stat().st_size,
                "users": loaded.n_users,
                "user_ids": loaded.users is not None,
                "depth": {"mean": float(depths.mean()), "largest": int(depths.max())},
                "parameters": parameters,
                "privacy": privacy,
            }
        )
        return
    ids = "numbers, the file has no ids" if loaded.users is None else f"such as {', '.join(map(shown, loaded.users[:3]))}"
    facts(
        [
            ("users", number(loaded.n_users)),
            ("ids", ids),
            ("depth", f"{number(float(depths.mean()), 3)} clusters above a user on average, {int(depths.max()):,} at most"),
            ("file", f"{number(tree.stat().st_size)} bytes"),
            *((name, _when(value) if name in ("opens", "closes") else value) for name, value in parameters.items()),
            ("privacy", privacy or "unknown: the file does not say how its reports were made"),
        ]
    )


def _when(value: object) -> object:
    """A time of a round for people to read; whatever is no time as it is."""
    from privact.protocol.round import LAST_SECOND

    return write_time(value) if isinstance(value, int) and 0 <= value <= LAST_SECOND else value
