"""privact recommend: items for a user, from a released tree and ratings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privact.cli.files import find_user
from privact.cli.text import Json, paragraph, print_json, table

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(epilog="\b\nExample:\n  privact recommend --tree tree.hct --ratings ratings.tsv --user ada -k 10")
def recommend(
    tree: Annotated[Path, typer.Option(metavar="TREE", help="A tree file, as privact learn writes it.", show_default=False)],
    ratings: Annotated[
        Path,
        typer.Option(metavar="FILE", help="Lines 'user<TAB>item<TAB>rating' (CSV, TSV or Parquet).", show_default=False),
    ],
    user: Annotated[str, typer.Option(metavar="USER", help="The id of a user of the tree.", show_default=False)],
    k: Annotated[int, typer.Option("-k", "--many", metavar="K", help="How many items.")] = 10,
    verb: Annotated[str, typer.Option(help="What users do with items, for the reason.")] = "rated",
    json: Json = False,
) -> None:
    """Recommend items to a user.

    Items are ranked by how likely the communities around the user in the tree have them, from the closest to everybody. The user
    needs no ratings; items that the user rated are not listed. Ratings of users who are not in the tree are left out.
    """
    from privact.recommend.cold_start import ColdStartRecommender
    from privact.recommend.read_ratings import read_ratings
    from privact.tree.hct import HierarchicalClusterTree

    loaded = HierarchicalClusterTree.load(tree)
    found_user = find_user(loaded, user)
    recommender = ColdStartRecommender(loaded, read_ratings(ratings), verb=verb)
    found = recommender.recommend(str(found_user), k)
    if json:
        listed = [{"item": each.item, "score": each.score, "reason": each.reason} for each in found]
        print_json({"user": user, "recommendations": listed})
    elif not found:
        paragraph(f"Nothing to recommend: {user} has rated every item.")
    else:
        table(("rank", "item", "why"), [(str(rank), each.item, each.reason) for rank, each in enumerate(found, 1)], right=(0,))
