"""privact cost, quality, bound: how good a tree is, beside trees that know nothing or little, and what theory promises."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any

import typer

from privact.cli.files import GraphPath, TreePath
from privact.cli.text import Json, facts, number, paragraph, print_json, table

__all__ = ["app"]

app = typer.Typer()

Seed = Annotated[int, typer.Option(help="Decides the controls.")]


@app.command(epilog="\b\nExample:\n  privact cost tree.hct contacts.tsv")
def cost(
    tree: TreePath,
    graph: GraphPath,
    labels: Annotated[
        Path | None, typer.Option(help="The labels with which the tree was learned, if it was.", metavar="FILE")
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Dasgupta's cost of a tree on a graph; higher is better.

    It is taken on the exact degree vectors, in the tree's own bins. Beside it: a random tree, and a tree that was learned at
    the same epsilon from the number of contacts alone. The relative utility is the cost divided by what any tree costs when
    all users differ by 1, as in the paper's Table 2.
    """
    from privact.cli.trees.tree_contacts import bins_of, contacts_of, controls
    from privact.progress import progress_bar
    from privact.simulate.reports import degree_vectors
    from privact.tree.cost import dasgupta_cost, rho
    from privact.tree.hct import HierarchicalClusterTree

    with progress_bar() as progress:
        progress("reading", 0, 0)
        loaded = HierarchicalClusterTree.load(tree)
        contacts, left_out = contacts_of(loaded, graph)
        bins, n_bins = bins_of(loaded, contacts, labels)
        vectors = degree_vectors(contacts, bins, n_bins)
        trees = {"this tree": loaded, **controls(loaded, contacts, seed, progress)}
        progress("costs", 0, 0)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            costs = dict(zip(trees, pool.map(lambda candidate: dasgupta_cost(candidate, vectors), trees.values()), strict=True))
    whole = rho(loaded.n_users)
    if json:
        found = {name: {"cost": value, "relative_utility": value / whole} for name, value in costs.items()}
        print_json({"users": loaded.n_users, "users_left_out": left_out, "bins": n_bins, "rho": whole, "trees": _keys(found)})
        return
    rows = [(name, f"{value:.6g}", f"{value / whole:.4g}") for name, value in costs.items()]
    table(("", "cost", "relative utility"), rows, right=(1, 2))
    _say_left_out(left_out)


@app.command(epilog="\b\nExample:\n  privact quality tree.hct contacts.tsv")
def quality(tree: TreePath, graph: GraphPath, seed: Seed = 0, json: Json = False) -> None:
    """What a tree knows about contacts.

    Each user is asked for as many nearest users as they have contacts. The table shows which share of them are contacts and
    contacts of contacts, how many steps through contacts they are away, on average over users, and how often two contacts are
    nearer in the tree than two others (AUC; one half is chance). Beside it: a random tree, and a tree that was learned at the
    same epsilon from the number of contacts alone.
    """
    from dataclasses import asdict

    from privact.cli.trees.tree_contacts import contacts_of, controls
    from privact.progress import progress_bar
    from privact.query.quality import measure_tree_quality
    from privact.tree.hct import HierarchicalClusterTree

    with progress_bar() as progress:
        progress("reading", 0, 0)
        loaded = HierarchicalClusterTree.load(tree)
        contacts, left_out = contacts_of(loaded, graph)
        adjacency = contacts.to_scipy()
        trees = {"this tree": loaded, **controls(loaded, contacts, seed, progress)}
        progress("quality", 0, 0)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            measured = pool.map(lambda candidate: measure_tree_quality(candidate, adjacency), trees.values())
            found = dict(zip(trees, measured, strict=True))
    if json:
        qualities = _keys({name: asdict(quality) for name, quality in found.items()})
        print_json({"users": loaded.n_users, "users_left_out": left_out, "contacts": contacts.n_edges, "trees": qualities})
        return
    rows = [
        (name, f"{q.share_of_contacts:.2%}", f"{q.share_of_two_hop:.2%}", f"{q.mean_path:.2f}", f"{q.auc:.3f}")
        for name, q in found.items()
    ]
    table(("among the nearest", "contacts", "two steps", "mean path", "AUC"), rows, right=(1, 2, 3, 4))
    if found["this tree"].auc < 0.5:
        print()
        paragraph(
            "An AUC below one half: contacts are farther apart in this tree than other users, as where users are told apart by "
            "how many contacts they have, and those with few know those with many. A series may help (privact learn --rounds 4), "
            "or public labels and their shares (--labels FILE --profile shares+own)."
        )
    if (searched := found["this tree"].searched) < loaded.n_users:
        print(f"\ntwo steps and mean path are over {searched:,} users")
    _say_left_out(left_out)


@app.command(epilog="\b\nExample:\n  privact bound --users 100000 --epsilon 1")
def bound(
    users: Annotated[int, typer.Option(help="How many users.", show_default=False)],
    epsilon: Annotated[float, typer.Option(help="The privacy promise per contact.")] = 1.0,
    bins: Annotated[int | None, typer.Option(help="How many bins.", show_default="floor(ln users)")] = None,
    json: Json = False,
) -> None:
    """How much utility the paper's theorems let noise cost.

    Losses are expected ones, in relative utility, that is as multiples of rho: they compare with what privact cost prints.
    """
    from dataclasses import asdict

    from privact.tree.cost import utility_bound

    found = utility_bound(users, epsilon, bins)
    if json:
        print_json(asdict(found))
        return
    facts(
        [
            ("users", number(found.n_users)),
            ("epsilon", f"{found.epsilon:g} per contact"),
            ("bins", number(found.n_bins)),
            ("rho", f"{found.rho:.4g}, the cost of any tree when all users differ by 1"),
            ("search", f"{found.gentree_loss / found.rho:.3g} lost by the chain itself (Lemma 1)"),
            ("noise", f"{found.per_edge_loss / found.rho:.4g} lost to noise of Lap(2/epsilon), as a promise per contact needs"),
            ("", f"{found.privact_loss / found.rho:.4g} to noise of Lap(1/epsilon), as the theorem is written (Theorem 4)"),
        ]
    )
    print()
    paragraph("These are worst cases. What is lost on real networks is far less: see privact bench tree.")


def _keys(found: dict[str, Any]) -> dict[str, Any]:
    keys = {"this tree": "tree", "number of contacts only": "degree_only", "random tree": "random"}
    return {keys[name]: value for name, value in found.items()}


def _say_left_out(count: int) -> None:
    if count:
        print(f"\n{count:,} users of the graph are not in the tree and were left out")
