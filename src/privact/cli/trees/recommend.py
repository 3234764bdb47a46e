"""privact recommend: items for a user, from a released tree and ratings."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from privact.cli.files import RepeatsChoice, find_user, read_repeats
from privact.cli.text import Json, paragraph, print_json, table
from privact.cli.trees.tree_reports import open_reports

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from privact.learn.evidence.count_posterior import CountPosterior
    from privact.tree.hct import HierarchicalClusterTree

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command(
    epilog="\b\nExample:\n  privact recommend --tree tree.hct --ratings ratings.tsv --user ada -k 10\n"
    "  privact recommend --tree tree.hct --ratings ratings.tsv --user ada \\\n"
    "      --labels labels.tsv --reports reports.parquet --epsilon 1"
)
def recommend(
    tree: Annotated[Path, typer.Option(metavar="TREE", help="A tree file, as privact learn writes it.", show_default=False)],
    ratings: Annotated[
        Path,
        typer.Option(metavar="FILE", help="Lines 'user<TAB>item<TAB>rating' (CSV, TSV or Parquet).", show_default=False),
    ],
    user: Annotated[str, typer.Option(metavar="USER", help="The id of a user of the tree.", show_default=False)],
    k: Annotated[int, typer.Option("-k", "--many", metavar="K", help="How many items.")] = 10,
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The public labels that were the bins, such as taste groups; needs --reports.",
            show_default=False,
        ),
    ] = None,
    reports: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The noisy reports of the tree's users, a .parquet, .arrow or .npy file; needs --labels.",
            show_default=False,
        ),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(help="The promise per contact that the reports carry noise for.", show_default=False),
    ] = None,
    evidence: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="What privact learn --evidence wrote; else it is estimated again from the reports.",
            show_default=False,
        ),
    ] = None,
    repeats: RepeatsChoice = "error",
    verb: Annotated[str, typer.Option(help="What users do with items, for the reason.")] = "rated",
    json: Json = False,
) -> None:
    """Recommend items to a user.

    Items are ranked by how likely the communities around the user in the tree have them, closest first. The user
    needs no ratings; items that the user rated are not listed. Ratings of users who are not in the tree are left out.

    With --labels, --reports and --epsilon also by what the user's own noisy report says: users count more whose label is frequent
    among the user's contacts. How much the tree and the report are believed is chosen on users who have ratings.
    """
    from privact.errors import InputError
    from privact.recommend.cold_start.cold_start_recommender import ColdStartRecommender
    from privact.recommend.cold_start.validation import choose_settings_for_tree
    from privact.recommend.data.read_ratings import read_ratings
    from privact.tree.hct import HierarchicalClusterTree

    together = {"--labels": labels, "--reports": reports, "--epsilon": epsilon}
    missing = [option for option, value in together.items() if value is None]
    if 0 < len(missing) < len(together):
        given = " and ".join(option for option in together if option not in missing)
        raise InputError(f"{given} without {' and '.join(missing)}: give all three, or none to use the tree alone")
    loaded = HierarchicalClusterTree.load(tree)
    found_user = find_user(loaded, user)
    known = read_ratings(ratings, repeats=read_repeats(repeats))
    told = _Told(None, None)
    if labels is not None and reports is not None and epsilon is not None:
        told = _read_told(loaded, labels, reports, epsilon, evidence)
    elif evidence is not None:
        raise InputError(f"--evidence {evidence} goes with --labels, --reports and --epsilon: give all four, or none")
    recommender = ColdStartRecommender(loaded, known, groups=told.groups, contacts=told.contacts, verb=verb)
    recommender.settings = choose_settings_for_tree(recommender)
    found = recommender.recommend(str(found_user), k)
    if json:
        listed = [{"item": each.item, "score": each.score, "reason": each.reason} for each in found]
        print_json({"user": user, "recommendations": listed, "settings": asdict(recommender.settings)})
    elif not found:
        paragraph(f"Nothing to recommend: {user} has rated every item.")
    else:
        table(("rank", "item", "why"), [(str(rank), each.item, each.reason) for rank, each in enumerate(found, 1)], right=(0,))


class _Told(NamedTuple):
    """What labels and reports tell, a row for each leaf: its public group, and its expected number of contacts in each group."""

    groups: list[int] | None
    contacts: NDArray[Any] | None


def _read_told(tree: HierarchicalClusterTree, labels: Path, reports: Path, epsilon: float, evidence: Path | None) -> _Told:
    """Labels and reports in the order of the tree's leaves."""
    from privact.errors import InputError
    from privact.protocol.round import epsilon_per_report

    per_report = epsilon_per_report(epsilon)
    promised = tree.parameters.get("epsilon")
    if promised is not None and promised != epsilon:
        raise InputError(f"--epsilon {epsilon:g} is not the {promised:g} of the tree: give the reports it was learned from")
    if tree.parameters.get("bins") == "random":
        raise InputError(
            f"the tree has random bins, to which --labels {labels} say nothing: learn one with --labels, or with --label-bins"
        )
    with open_reports(tree, reports, labels) as found:
        counts = _posterior(found.matrix, per_report, evidence).counts(found.matrix)
        return _Told(found.groups, counts[found.rows])


def _posterior(reports: NDArray[Any], epsilon_report: float, evidence: Path | None) -> CountPosterior:
    """The law of true counts given a report: as it was kept, or estimated from the reports."""
    from privact.errors import InputError
    from privact.learn.evidence.count_posterior import CountPosterior
    from privact.learn.evidence.evidence_file import read_evidence

    if evidence is None:
        return CountPosterior.fit(reports, epsilon_report, equal_bins=False)
    kept = read_evidence(evidence).posterior
    if kept is None:
        raise InputError(f"{evidence} is of a tree learned with --no-denoise and holds no estimate: leave --evidence out")
    if (kept.epsilon_report, len(kept.shares)) != (epsilon_report, reports.shape[1]):
        raise InputError(
            f"{evidence} is of reports of {len(kept.shares)} bins at epsilon {2 * kept.epsilon_report:g}, these have "
            f"{reports.shape[1]} at epsilon {2 * epsilon_report:g}: give the file of the same reports"
        )
    return kept
