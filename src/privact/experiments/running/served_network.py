"""A person's own network played against a running aggregator: the devices are made up, everything else is the service itself."""

from __future__ import annotations

import secrets
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from privact.errors import AggregatorError, InputError, PrivaCTError
from privact.experiments.running.own_network import Outcome, expect_contacts, judge_tree
from privact.network.graph import ContactGraph
from privact.progress import Progress, ignore_progress
from privact.protocol.addresses import Address
from privact.protocol.labels import LabelTable
from privact.protocol.report import Report
from privact.protocol.round import Round
from privact.protocol.users import normalise_user_id
from privact.recommend.data.ratings import Ratings
from privact.simulate.http_devices import Operator, make_reports, send_reports
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["play_on_aggregator"]

_PREFIX: Final = "rehearsal-"
_PAGE: Final = 10_000
_DAY: Final = 86_400


def play_on_aggregator(
    address: Address,
    token: str,
    graph: ContactGraph,
    epsilon: float,
    *,
    labels: Mapping[str, str] | None = None,
    ratings: Ratings | None = None,
    rounds: int = 1,
    seed: int = 0,
    progress: Progress = ignore_progress,
) -> Outcome:
    """Enrol everybody under a name for this run, answer a round or a series as each device, and judge the released tree.

    address, token: of the aggregator and of its operator. An aggregator with other users is refused: they would be asked.
    Other arguments as for `play_own_network`. Rounds are closed as soon as every device has answered.
    """
    operator = Operator(address, token)
    _check_nobody_is_asked(operator)
    run = f"{_PREFIX}{secrets.token_hex(4)}"
    names = [f"{run}-{normalise_user_id(user)}" for user in graph.names]
    tokens = operator.enrol(names, progress)
    named = (
        None if labels is None else {name: labels[user] for name, user in zip(names, graph.names, strict=True) if user in labels}
    )
    _create(operator, run, epsilon, rounds, seed, named)
    for number in range(1, rounds + 1):
        id = run if rounds == 1 else f"{run}.{number}"
        round = _wait_until_open(operator, id, progress)
        table = operator.labels(round)
        reports = make_reports(graph, names, round, table, progress)
        sent = send_reports(address, id, [tokens[name] for name in names], reports, progress)
        if sent.accepted < graph.n_users:
            raise PrivaCTError(f"{graph.n_users - sent.accepted} of {graph.n_users} reports were not accepted: {sent.refusal}")
        operator.ask("POST", f"/v1/rounds/{id}/close")
        if number == 1:
            bins = f"{round.n_bins} {'labels' if round.bins == 'labels' else 'random bins'}"
    operator.released(id, progress)
    evidence = operator.round(id)["evidence"]
    groups, counts = _read_groups(names, round, table, reports)
    return judge_tree(
        graph,
        _read_tree(operator, id, dict(zip(names, graph.names, strict=True))),
        epsilon=epsilon,
        rounds=rounds,
        bins=bins,
        sees_communities=None if evidence is None else bool(evidence["sees_communities"]),
        labels=labels,
        ratings=ratings,
        groups=groups,
        counts=counts,
        seed=seed,
        progress=progress,
    )


def _check_nobody_is_asked(operator: Operator) -> None:
    """Refuse an aggregator with users of its own: an opened round asks everybody who is enrolled."""
    after: int | None = 0
    while after is not None:
        page = operator.ask("GET", f"/v1/users?limit={_PAGE}&after={after}").json()
        others = sum(not each["user"].startswith(_PREFIX) for each in page["users"])
        if others:
            raise InputError(
                f"{page['total']} users are enrolled at {operator.address.url} and would be asked to answer: rehearse against an "
                "aggregator of its own, or leave --url out"
            )
        after = page["next"]


def _create(operator: Operator, name: str, epsilon: float, rounds: int, seed: int, labels: Mapping[str, str] | None) -> None:
    """Create the round or the series, and open it."""
    bins = "random" if labels is None else "labels"
    if rounds == 1:
        path, wish = "/v1/rounds", {"id": name, "epsilon": epsilon, "bins": bins, "search_seed": seed}
    else:
        path = "/v1/series"
        wish = {"name": name, "epsilon": epsilon, "rounds": rounds, "bins": bins, "search_seed": seed, "every_seconds": _DAY}
    operator.ask("POST", path, wish)
    if labels is not None:
        operator.ask(
            "PUT", f"{path}/{name}/labels", content="".join(f"{user},{label}\n" for user, label in labels.items()).encode()
        )
    operator.ask("POST", f"{path}/{name}/open")


def _wait_until_open(operator: Operator, id: str, progress: Progress) -> Round:
    """The parameters of a round, as soon as the aggregator has opened it: of a series after groups were inferred."""
    before = f"{id.rpartition('.')[0]}.{int(id.rpartition('.')[2]) - 1}" if "." in id else ""
    while True:
        try:
            return operator.parameters(id)
        except AggregatorError:
            found = operator.round(before)
            if found["state"] not in ("closed", "learning"):
                raise PrivaCTError(f"round {before} is {found['state']}: {found['failure'] or 'no round follows it'}") from None
        progress(f"inferring groups after round {before.rpartition('.')[2]}", 0, 0)
        time.sleep(0.2)


def _read_groups(
    names: list[str], round: Round, table: LabelTable | None, reports: list[bytes]
) -> tuple[NDArray[np.int64] | None, NDArray[np.float64] | None]:
    """The label of each user in the last round and the contacts that reports let expect in each, as the server recommends."""
    if table is None:
        return None, None
    vectors = np.array([Report.from_bytes(each).vector for each in reports])
    return np.asarray(table.labels_of(names), np.int64), expect_contacts(vectors, round.epsilon_report)


def _read_tree(operator: Operator, id: str, real: Mapping[str, str]) -> HierarchicalClusterTree:
    """The released tree, with the ids of the file of contacts."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tree.hct"
        path.write_bytes(operator.ask("GET", f"/v1/rounds/{id}/tree/download?format=hct").content)
        tree = HierarchicalClusterTree.load(path)
    assert tree.users is not None
    return HierarchicalClusterTree.from_children(tree.left, tree.right, users=[real[name] for name in tree.users.names()])
