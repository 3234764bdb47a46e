"""privact plan: what a series of rounds would find on a network like the operator's."""

from __future__ import annotations

from typing import Annotated

import typer

from privact.cli.text import Json, number, paragraph, print_json, table

__all__ = ["app"]

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_ROUNDS = (1, 4, 5)


@app.command(epilog="\b\nExample:\n  privact plan --users 2000 --contacts 30 --communities 10 --epsilon 2")
def plan(
    users: Annotated[int, typer.Option(help="How many users.", show_default=False)],
    contacts: Annotated[float, typer.Option(help="How many contacts a user has on average.", show_default=False)],
    communities: Annotated[int, typer.Option(help="How many communities, about equally large.", show_default=False)],
    epsilon: Annotated[float, typer.Option(help="The privacy promise per contact over a whole series.")] = 1.0,
    inside: Annotated[float, typer.Option(help="Share of a user's contacts inside the own community.")] = 0.7,
    seed: Annotated[int, typer.Option(help="Decides the network, the noise and the search.")] = 0,
    json: Json = False,
) -> None:
    """Simulate what a series of rounds would find.

    A made-up network with communities is simulated with half, all and twice the epsilon, in one round and in series of rounds
    that share it. The table has the expected share of contacts: true contacts among a user's m nearest in the tree, m the
    number of contacts. More than 2,000 users are simulated as a smaller network with the same contacts and communities of the
    same size where that is possible.
    """
    from dataclasses import asdict

    from privact.errors import InputError
    from privact.progress import progress_bar
    from privact.protocol.round import epsilon_per_report
    from privact.simulate.planning import choose_planned_network, plan_series

    if seed < 0:
        raise InputError(f"--seed {seed} is below 0: give a whole number of at least 0")
    epsilons = (epsilon / 2, epsilon, epsilon * 2)
    for each in epsilons:
        epsilon_per_report(each)
    planned = choose_planned_network(users, contacts, communities, inside)
    with progress_bar() as progress:
        found = plan_series(planned, epsilons, _ROUNDS, seed, progress)
    if json:
        print_json({"simulated": planned._asdict(), "rows": [asdict(each) for each in found]})
        return
    rows = []
    for each in epsilons:
        cells = [f"{row.share_of_contacts:.3f}{' *' if row.sees_communities else ''}" for row in found if row.epsilon == each]
        rows.append([f"{each:g}", *cells])
    print("Expected share of contacts among a user's nearest; * where the reports tell who contacts are.\n")
    table(["epsilon", *[f"{each} round{'s' if each > 1 else ''}" for each in _ROUNDS]], rows, range(1, len(_ROUNDS) + 1))
    print()
    size = number(planned.users // planned.communities)
    told = (
        f"Simulated: {number(planned.users)} users in {planned.communities} communities of {size}, {contacts:g} contacts a user, "
        f"{planned.inside:.0%} of them inside; {contacts / (planned.users - 1):.3f} of the nearest are contacts by chance."
    )
    if not planned.same_communities:
        told += f" Yours have {number(users // communities)} users and are harder to see: expect less."
    paragraph(told)
