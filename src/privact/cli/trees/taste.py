"""privact taste: ratings -> groups of users who rate alike, as a file of public labels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privact.cli.files import RepeatsChoice, check_output, read_repeats
from privact.cli.text import Json, number, paragraph, print_json, table

__all__ = ["app"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_PRIVACY = (
    "These labels come from ratings, never from contacts. They are public: everyone who downloads the label table of a round can "
    "look up the group of anyone whose id they know, and so learns in part what that user rated. No noise protects this. Users "
    "without ratings are in no group and are counted in no bin."
)


@app.command(
    epilog="\b\nExample:\n  privact taste ratings.tsv -k 5 -o labels.tsv\n"
    "  privact taste ratings.tsv -k 8 --factors 16 --seed 1 -o labels.tsv"
)
def taste(
    ratings: Annotated[
        Path,
        typer.Argument(metavar="RATINGS", help="Lines 'user<TAB>item<TAB>rating' (CSV, TSV or Parquet).", show_default=False),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The labels to write; a file of that name is replaced.", show_default=False
        ),
    ],
    k: Annotated[int, typer.Option("-k", "--groups", metavar="K", help="How many groups: the bins of the round.")] = 5,
    factors: Annotated[int, typer.Option(help="Dimensions of taste.")] = 8,
    repeats: RepeatsChoice = "error",
    seed: Annotated[int, typer.Option(help="Decides everything.")] = 0,
    json: Json = False,
) -> None:
    """Group users who rated alike, as public labels.

    The file has a line 'user<TAB>label' for each user with ratings. Give it to privact round labels or to privact learn --labels,
    so that contacts are counted by taste, and to privact recommend.
    """
    import numpy as np

    from privact.errors import InputError
    from privact.protocol.label_files import format_labels
    from privact.protocol.round import MAX_BINS
    from privact.recommend.data.read_ratings import read_ratings
    from privact.recommend.taste_groups import find_taste_groups
    from privact.storage import write_whole

    for option, value, least, most in (("-k", k, 1, MAX_BINS), ("--factors", factors, 1, None), ("--seed", seed, 0, None)):
        if value < least or (most is not None and value > most):
            limit = f"at least {least}" if most is None else f"from {least} to {most}"
            raise InputError(f"{option} {value} cannot be: give a whole number {limit}")
    check_output(output)
    found = read_ratings(ratings, repeats=read_repeats(repeats))
    groups = find_taste_groups(found, k, np.random.default_rng(seed), factors)
    digits = len(str(groups.n_groups))  # readers number labels in alphabetical order
    label_of = {user: f"taste-{group + 1:0{digits}}" for user, group in groups.as_labels(found.users).items()}
    try:
        content = format_labels(label_of)
    except InputError as error:
        raise InputError(f"{ratings}: {error}") from None
    with write_whole(output) as file:
        file.write(content)
    sizes = dict.fromkeys(sorted(set(label_of.values())), 0)
    for label in label_of.values():
        sizes[label] += 1
    if json:
        print_json({"output": str(output), "groups": sizes, "users": len(label_of), "seed": seed, "privacy": _PRIVACY})
        return
    table(("group", "users"), [(label, number(size)) for label, size in sizes.items()], right=(1,))
    print()
    fewer = f" There are fewer than {k} groups because users do not differ more." if groups.n_groups < k else ""
    paragraph(f"{number(len(label_of))} users with ratings are in {output}.{fewer}")
    print()
    paragraph(f"Privacy. {_PRIVACY}")
