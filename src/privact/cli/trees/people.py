"""privact people: users whom a user may know, from a released tree and the reports it was learned from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from privact.cli.files import RepeatsChoice, find_user, read_repeats
from privact.cli.text import Json, paragraph, print_json, table
from privact.cli.trees.tree_reports import open_reports

if TYPE_CHECKING:
    from privact.ids import UserId
    from privact.learn.evidence.series.series_rounds import SeriesRound
    from privact.tree.hct import HierarchicalClusterTree

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(
    epilog="\b\nExample:\n  privact people --tree tree.hct --reports reports.parquet --labels labels.tsv --epsilon 1 --user ada\n"
    "  privact people --tree tree.hct --reports reports.parquet --epsilon 1 --user ada --hide opted-out.txt\n"
    "  privact people --tree tree.hct --reports reports.parquet --labels labels.tsv --ratings ratings.tsv --epsilon 1 --user ada"
)
def people(
    tree: Annotated[Path, typer.Option(metavar="TREE", help="A tree file, as privact learn writes it.", show_default=False)],
    reports: Annotated[
        Path,
        typer.Option(
            metavar="FILE", help="The noisy reports of the tree's users, a .parquet, .arrow or .npy file.", show_default=False
        ),
    ],
    epsilon: Annotated[float, typer.Option(help="The promise per contact that the reports carry noise for.", show_default=False)],
    user: Annotated[str, typer.Option(metavar="USER", help="The id of a user of the tree.", show_default=False)],
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The public labels that were the bins; without them users are ranked by how well connected they are.",
            show_default=False,
        ),
    ] = None,
    k: Annotated[int, typer.Option("-k", "--many", metavar="K", help="How many users.")] = 10,
    known: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Users who are not listed, such as contacts: one id per line.", show_default=False),
    ] = None,
    hide: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Users who opted out of being recommended: one id per line.", show_default=False),
    ] = None,
    ratings: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Ratings 'user<TAB>item<TAB>rating': with --labels, users of a label are also compared by what they rate.",
            show_default=False,
        ),
    ] = None,
    repeats: RepeatsChoice = "error",
    json: Json = False,
) -> None:
    """List users whom a user may know.

    Users are ranked by how likely they are to be contacts, from noisy reports and public labels alone: it costs no further
    epsilon. Reasons are coarse, and there are no scores. Ratings are not protected: with them, a list tells who rates alike.
    """
    from privact.errors import InputError
    from privact.recommend.data.read_ratings import read_ratings
    from privact.recommend.people.contact_recommender import ContactRecommender
    from privact.tree.hct import HierarchicalClusterTree

    loaded = HierarchicalClusterTree.load(tree)
    asked = cast("UserId", find_user(loaded, user))
    files = [file for file in (known, hide) if file is not None]
    hidden = [cast("UserId", find_user(loaded, name)) for file in files for name in _read_ids(file, loaded)]
    if ratings is not None and labels is None:
        raise InputError(f"--ratings {ratings} without --labels: give the public labels that were the bins of the round")
    rated = None if ratings is None else read_ratings(ratings, repeats=read_repeats(repeats))
    recommender = ContactRecommender(loaded).fit([_read_round(loaded, reports, labels, epsilon)], rated)
    found = recommender.recommend(asked, k, leave_out=hidden)
    if json:
        print_json({"user": user, "people": [each._asdict() for each in found]})
    elif not found:
        paragraph("Nobody to recommend: all users are left out.")
    else:
        table(("rank", "user", "why"), [(str(each.rank), str(each.user), each.reason) for each in found], right=(0,))


def _read_ids(file: Path, tree: HierarchicalClusterTree) -> list[str]:
    """The ids of a file that are users of the tree."""
    from privact.errors import InputError

    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {file}: {error}") from None
    named = {line.strip() for line in lines if line.strip()}
    there = set(tree.users.names()) if tree.users is not None else set(map(str, range(tree.n_users)))
    return sorted(named & there)


def _read_round(tree: HierarchicalClusterTree, reports: Path, labels: Path | None, epsilon: float) -> SeriesRound:
    """The reports and labels of a round in the order of the tree's leaves."""
    import numpy as np

    from privact.learn.evidence.series.series_rounds import SeriesRound
    from privact.protocol.round import epsilon_per_report

    with open_reports(tree, reports, labels) as found:
        groups = None if found.groups is None else np.array(found.groups)
        return SeriesRound(np.array(found.matrix[found.rows]), groups, epsilon_per_report(epsilon))
