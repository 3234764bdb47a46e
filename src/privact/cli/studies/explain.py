"""privact explain: what a method comes to, in numbers and plain words, without running it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from privact.cli.program import make_group
from privact.cli.text import Json, facts, number, paragraph, print_json

if TYPE_CHECKING:
    from privact.baselines.randomized_response import Explanation

__all__ = ["app"]

app = make_group("Say in numbers what a method comes to, without running it.")


@app.callback()
def explain() -> None:
    """Say in numbers what a method comes to, without running it."""


@app.command("randomized-response", epilog="\b\nExample:\n  privact explain randomized-response --users 1000000 --epsilon 1")
def randomized_response(
    users: Annotated[int, typer.Option(help="How many users.", show_default=False)],
    epsilon: Annotated[float, typer.Option(help="The privacy promise per contact.")] = 1.0,
    degree: Annotated[
        int | None, typer.Option(help="How many contacts the user has.", show_default="70, as in the paper")
    ] = None,
    json: Json = False,
) -> None:
    """Randomized response on the contact list: what a user would claim, beside a PrivaCT report.

    Each user answers for every other user whether they are a contact, and gives the wrong answer with a probability that the
    promise asks for. Most of the contacts that are claimed then do not exist.
    """
    from dataclasses import asdict

    from privact.baselines.randomized_response import PAPER_CLAIM, explain_paper_example, explain_randomized_response

    found, paper = explain_randomized_response(users, epsilon, degree), explain_paper_example()
    if json:
        print_json({**asdict(found), "paper_example": {**asdict(paper), "claimed_in_paper": PAPER_CLAIM}})
        return
    facts(
        [
            ("network", f"{number(found.users)} users; one of them has {number(found.degree)} contacts"),
            ("epsilon", f"{found.epsilon:g} per contact, so {found.epsilon_report:g} for each end's report"),
            ("each answer", f"is kept with {found.kept:.4g}, flipped with {found.flipped:.4g}"),
            ("claims", f"{_whole(found.claimed)} contacts: {_whole(found.false_claims)} false, {_whole(found.true_claims)} true"),
            ("a claim is true", f"with probability {found.precision:.3g}"),
            ("both ends claim", f"{_whole(found.both_claimed)} contacts, each true with probability {found.both_precision:.3g}"),
            (
                "number of contacts",
                f"known to ±{found.degree_sd:,.1f} (one standard deviation) from the user's claims, "
                f"±{found.degree_sd_both:,.1f} from both ends'",
            ),
            ("sent", f"{number(found.bytes_sent)} bytes by each user: one bit for each user"),
            (
                "PrivaCT instead",
                f"{found.privact_counts} counts, {number(found.privact_bytes)} bytes by each user, no contact named; "
                f"number of contacts known to ±{found.privact_degree_sd:,.1f}",
            ),
        ]
    )
    print()
    paragraph(_about_the_paper(paper, PAPER_CLAIM))


def _about_the_paper(paper: Explanation, claim: int) -> str:
    """What the paper's example says, and what it comes to."""
    return (
        f"The paper's example (section 2.2): among {number(paper.users)} users, one with {paper.degree} contacts keeps each "
        f"answer with {paper.kept:.0%}, and is said to claim {number(claim)} contacts. That is how many answers are kept. "
        f"False claims come from the {paper.flipped:.0%} that are flipped: {_whole(paper.false_claims)} of them beside "
        f"{_whole(paper.true_claims)} true ones, {_whole(paper.claimed)} claims in all. Nor is a claim false with "
        f"{paper.flipped:.0%}, as said there: it is false with {1.0 - paper.precision:.2%}. The point stands. "
        f"The promise there is epsilon {paper.epsilon:.3g} per contact, {paper.epsilon_report:.3g} for each end's report."
    )


def _whole(value: float) -> str:
    """A number of contacts: whole, or with the digits that a small one needs."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"
