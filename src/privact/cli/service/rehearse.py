"""privact simulate --contacts: a round or a series of one's own network, and what would come out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privact.cli.service.operator import read_operator_token
from privact.cli.text import facts, number, paragraph, print_json, shown
from privact.errors import InputError
from privact.progress import progress_bar

if TYPE_CHECKING:
    from privact.experiments.running.own_network import Outcome
    from privact.protocol.addresses import Address

__all__ = ["rehearse_own_network"]

_NAMED = 3


def rehearse_own_network(
    contacts: Path,
    ratings: Path | None,
    labels: Path | None,
    rounds: int,
    epsilon: float,
    seed: int,
    url: str | None,
    token_file: Path | None,
    allow_remote: bool,
    json: bool,
) -> None:
    """Play the network of a file and tell what came out; arguments as the options of the command."""
    from privact.experiments.running.own_network import play_own_network
    from privact.network.graph_files import read_graph
    from privact.recommend.data.read_ratings import read_ratings

    with progress_bar(quiet=json) as show:
        show("reading the contacts", 0, 0)
        graph = read_graph(contacts)
        rated = None if ratings is None else read_ratings(ratings)
        label_of = None if labels is None else _read_labels(labels, graph.names)
        if url is None:
            outcome = play_own_network(graph, epsilon, labels=label_of, ratings=rated, rounds=rounds, seed=seed, progress=show)
        else:
            from privact.experiments.running.served_network import play_on_aggregator

            address = _find_aggregator(url, allow_remote)
            token = read_operator_token(token_file)
            outcome = play_on_aggregator(
                address, token, graph, epsilon, labels=label_of, ratings=rated, rounds=rounds, seed=seed, progress=show
            )
    if json:
        document = outcome._asdict()
        document["recommendations"] = None if outcome.recommendations is None else outcome.recommendations._asdict()
        print_json(document)
    else:
        _tell(outcome)


def _read_labels(path: Path, users: Sequence[str]) -> dict[str, str]:
    """The label of each user who has one."""
    from privact.cli.files import read_labels

    return {user: label for user, label in zip(users, read_labels(path, users), strict=True) if label is not None}


def _find_aggregator(url: str, allow_remote: bool) -> Address:
    """The aggregator at an address, which has to be on this machine unless another is allowed."""
    from privact.protocol.addresses import aggregator_address

    address = aggregator_address(url, allow_plain_http=allow_remote)
    if not (address.loopback or allow_remote):
        raise InputError(f"{url} is another machine, to be filled with rehearsing users: use loopback, or --allow-remote")
    return address


def _tell(outcome: Outcome) -> None:
    """Say what would come out."""
    served = outcome.recommendations
    series = f"{outcome.rounds} rounds, together " if outcome.rounds > 1 else "one round, "
    rows: list[tuple[str, object]] = [
        ("network", f"{number(outcome.users)} users, {number(outcome.contacts)} contacts"),
        ("played", f"{series}epsilon {outcome.epsilon:g} per contact, {outcome.bins}"),
        (
            "true contacts near",
            f"{outcome.contact_share:.3f} of a user's nearest users; {outcome.by_number:.3f} knowing only how many contacts "
            f"users have, {outcome.by_chance:.3f} by chance",
        ),
    ]
    if outcome.sees_communities is not None:
        said = "the reports show them" if outcome.sees_communities else "the reports show none: ask more users, or spend more"
        rows.append(("communities", said))
    if served is not None:
        rows.append(
            (
                "recommendations",
                f"precision@10 {served.precision:.2f} against {served.precision_popular:.2f} for the most popular items, "
                f"NDCG@10 {served.ndcg:.2f} against {served.ndcg_popular:.2f}, for {number(served.users)} users",
            )
        )
    facts(rows)
    print()
    clusters = outcome.communities["clusters"]
    paragraph(f"{len(clusters)} communities of at least {number(outcome.communities['min_size'])} users:")
    for cluster in clusters:
        print(f"  {number(cluster['size']):>8} users  {_describe(cluster)}")
    print()
    paragraph("Nobody was asked and nothing was spent. In a real round each device draws its own noise.")


def _describe(cluster: dict[str, Any]) -> str:
    """The labels that most users of a cluster have, or some of its users."""
    named = [f"{group['share']:.0%} {shown(group['name'])}" for group in cluster.get("groups", []) if group["share"] >= 0.15]
    return ", ".join(named) or ", ".join(shown(user) for user in cluster["users"][:_NAMED]) + ", ..."
