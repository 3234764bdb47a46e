"""privact simulate --contacts: a round or a series of one's own network, and what would come out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privact.cli.service.operator import read_operator_token
from privact.cli.text import facts, number, paragraph, print_json, shown
from privact.errors import InputError, PrivaCTError
from privact.progress import Progress, progress_bar

if TYPE_CHECKING:
    from privact.experiments.running.own_network import Outcome
    from privact.network.graph import ContactGraph
    from privact.recommend.data.ratings import Ratings

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
            if rounds > 1:
                raise InputError(f"--rounds {rounds} with --url: a series takes as long as its rounds are open; leave --url out")
            token = read_operator_token(token_file)
            outcome = _play_round(url, token, graph, epsilon, label_of, rated, seed, allow_remote, show)
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


def _play_round(
    url: str,
    token: str,
    graph: ContactGraph,
    epsilon: float,
    labels: dict[str, str] | None,
    ratings: Ratings | None,
    seed: int,
    allow_remote: bool,
    show: Progress,
) -> Outcome:
    """Enrol everybody under a name for this run, answer one round as each device, and judge the released tree."""
    import secrets
    import tempfile

    from privact.experiments.running.own_network import judge_tree
    from privact.protocol.addresses import aggregator_address
    from privact.protocol.users import normalise_user_id
    from privact.simulate.http_devices import Operator, make_reports, send_reports
    from privact.tree.hct import HierarchicalClusterTree

    address = aggregator_address(url, allow_plain_http=allow_remote)
    if not (address.loopback or allow_remote):
        raise InputError(f"{url} is another machine, to be filled with rehearsing users: use loopback, or --allow-remote")
    run = secrets.token_hex(4)
    names = [f"rehearsal-{run}-{normalise_user_id(user)}" for user in graph.names]
    operator = Operator(address, token)
    tokens = operator.enrol(names, show)
    id = f"rehearsal-{run}"
    operator.ask("POST", "/v1/rounds", {"id": id, "epsilon": epsilon, "bins": "random" if labels is None else "labels"})
    if labels is not None:
        known = [(name, labels[user]) for name, user in zip(names, graph.names, strict=True) if user in labels]
        operator.ask("PUT", f"/v1/rounds/{id}/labels", content="".join(f"{name},{label}\n" for name, label in known).encode())
    operator.ask("POST", f"/v1/rounds/{id}/open")
    round = operator.parameters(id)
    sent = send_reports(
        address, id, [tokens[name] for name in names], make_reports(graph, names, round, operator.labels(round), show), show
    )
    if sent.accepted < graph.n_users:
        raise PrivaCTError(f"{graph.n_users - sent.accepted} of {graph.n_users} reports were not accepted: {sent.refusal}")
    operator.ask("POST", f"/v1/rounds/{id}/close")
    operator.released(id, show)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tree.hct"
        path.write_bytes(operator.ask("GET", f"/v1/rounds/{id}/tree/download?format=hct").content)
        tree = HierarchicalClusterTree.load(path)
    real = dict(zip(names, graph.names, strict=True))
    assert tree.users is not None
    renamed = HierarchicalClusterTree.from_children(tree.left, tree.right, users=[real[name] for name in tree.users.names()])
    bins = f"{round.n_bins} {'labels' if labels is not None else 'random bins'}"
    return judge_tree(
        graph, renamed, epsilon=epsilon, rounds=1, bins=bins, labels=labels, ratings=ratings, seed=seed, progress=show
    )


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
