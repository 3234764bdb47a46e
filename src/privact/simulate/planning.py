"""What a series of rounds would find on a network like one's own, by simulating it: before anybody is asked for a report."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from privact.errors import InputError
from privact.network.graph import ContactGraph
from privact.progress import Progress, ignore_progress

__all__ = ["LARGEST", "Expectation", "PlannedNetwork", "choose_planned_network", "draw_network", "plan_series"]

LARGEST = 2_000
"""The most users that are simulated."""

FEWEST_COMMUNITIES = 4
"""Communities that a reduced network keeps at least."""

INSIDE = 0.7
"""Share of a user's contacts inside the own community, unless given."""

SPREAD = 0.8
"""Standard deviation of the logarithm of how sociable users are: numbers of contacts vary as in social networks."""


class PlannedNetwork(NamedTuple):
    """A made-up network that is simulated.

    users, communities: how many. contacts: mean number of contacts of a user. inside: share of them in the own community.
    same_communities: communities are as large as those asked for; otherwise smaller, which are easier to see.
    """

    users: int
    communities: int
    contacts: float
    inside: float
    same_communities: bool


@dataclass(frozen=True)
class Expectation:
    """What a series finds on the simulated network.

    epsilon: the promise per contact over all rounds. rounds: how many share it.
    share_of_contacts: true contacts among a user's m nearest in the tree, m the number of contacts.
    sees_communities: whether the reports tell who contacts are; False for one round over random bins.
    """

    epsilon: float
    rounds: int
    share_of_contacts: float
    sees_communities: bool


def choose_planned_network(users: int, contacts: float, communities: int, inside: float = INSIDE) -> PlannedNetwork:
    """The network to simulate: the one described, or a smaller one with communities of the same size where possible."""
    if users < 20:
        raise InputError(f"{users} users are too few to plan for: give at least 20")
    if not 2 <= communities <= users // 5:
        raise InputError(
            f"{communities} communities of {users} users: give from 2 to {users // 5}, so that each has 5 users or more"
        )
    if not 0.0 < inside <= 1.0:
        raise InputError(f"the share of contacts inside communities is {inside:g}: give a number above 0, at most 1")
    size = users // communities
    most = min(size / 2 / inside, users / 4)
    if not 1.0 <= contacts <= most:
        raise InputError(
            f"{contacts:g} contacts a user, {inside:.0%} of them in communities of {size}: "
            f"give from 1 to {most:.4g}, fewer communities or a smaller --inside"
        )
    if users <= LARGEST:
        return PlannedNetwork(users, communities, contacts, inside, True)
    kept = min(communities, max(LARGEST // size, FEWEST_COMMUNITIES))
    simulated = min(size, LARGEST // kept)
    if contacts * inside > simulated / 2:
        raise InputError(
            f"{contacts:g} contacts a user are too many to simulate with {LARGEST:,} users: "
            f"give at most {simulated / 2 / inside:.4g}"
        )
    return PlannedNetwork(kept * simulated, kept, contacts, inside, simulated == size)


def draw_network(planned: PlannedNetwork, rng: np.random.Generator) -> ContactGraph:
    """A block model in which some users have many more contacts than others."""
    community = rng.permutation(np.arange(planned.users) % planned.communities)
    sociable = rng.lognormal(0.0, SPREAD, planned.users)
    n_edges = round(planned.users * planned.contacts / 2)
    members = [np.flatnonzero(community == c) for c in range(planned.communities)]
    found: set[tuple[int, int]] = set()
    everybody = sociable / sociable.sum()
    chance = [sociable[each] / sociable[each].sum() for each in members]
    while len(found) < n_edges:
        missing = n_edges - len(found)
        first = rng.choice(planned.users, missing, p=everybody)
        second = rng.choice(planned.users, missing, p=everybody)
        inner = rng.random(missing) < planned.inside
        for c, each in enumerate(members):
            chosen = np.flatnonzero(inner & (community[first] == c))
            second[chosen] = rng.choice(each, len(chosen), p=chance[c])
        ends = np.sort(np.column_stack([first, second])[first != second], axis=1)
        found.update(map(tuple, ends.tolist()))
    return ContactGraph.from_edges(np.array(sorted(found)))


def plan_series(
    planned: PlannedNetwork,
    epsilons: Sequence[float],
    rounds: Sequence[int],
    seed: int = 0,
    progress: Progress = ignore_progress,
) -> list[Expectation]:
    """Simulate a series for each epsilon and number of rounds.

    seed: decides the network, the noise and the search.
    """
    from privact.estimator import PrivaCT
    from privact.query.quality import measure_contact_share

    graph = draw_network(planned, np.random.default_rng(seed))
    contacts = graph.to_scipy()
    found: list[Expectation] = []
    for epsilon in epsilons:
        for number in rounds:
            progress("simulating series", len(found), len(epsilons) * len(rounds))
            model = PrivaCT(epsilon=epsilon, rounds=number, random_state=seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # what a series does not see is in the result
                model.fit(graph)
            sees = number > 1 and bool(model.sees_communities_)
            found.append(Expectation(epsilon, number, measure_contact_share(model.tree_, contacts), sees))
    return found
