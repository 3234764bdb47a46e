"""A federated music network made by chance, with everything known about it: communities, servers, tastes.

Users stand in a line in which a community of any level is a slice, and so do artists. Whoever is drawn - a contact, an artist -
is drawn from a slice in proportion to weight: one look-up in the cumulated weights. In the end everyone is shuffled, so that
row numbers say nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.errors import InputError
from privact.network.graph import ContactGraph
from privact.simulate._draw import NestedSlices, draw_distinct
from privact.simulate._names import make_account_names, make_artist_names, make_server_names

__all__ = ["FederatedNetwork", "make_federated_network"]

_HEAD_ARTISTS = 10.0  # popularity falls as 1 / (rank + this): no single artist takes all plays


@dataclass(frozen=True, eq=False)
class FederatedNetwork:
    """A network whose communities, servers and tastes are known.

    graph: who knows whom; ids are account names such as ada12@vinyl.example.
    communities: (n_users, levels) labels, coarsest level first; sharing a label means sharing all coarser ones.
    servers: (n_users,) home server of each user, an index into server_names.
    server_names: the host name of each server.
    ratings: (r, 3) integers user, artist, plays, ordered by user and artist; each pair of user and artist once.
    artist_names: the name of each artist.
    artist_communities: (n_artists,) the finest community that each artist belongs to.
    """

    graph: ContactGraph
    communities: NDArray[np.int64]
    servers: NDArray[np.int64]
    server_names: tuple[str, ...]
    ratings: NDArray[np.int64]
    artist_names: tuple[str, ...]
    artist_communities: NDArray[np.int64]

    def __repr__(self) -> str:
        sizes = f"n_users={self.graph.n_users}, n_edges={self.graph.n_edges}, n_servers={len(self.server_names)}"
        return f"FederatedNetwork({sizes}, n_artists={len(self.artist_names)}, n_ratings={len(self.ratings)})"


def make_federated_network(
    n_users: int = 2000,
    branching: Sequence[int] = (4, 4, 4),
    mean_degree: float = 14.0,
    tail: float = 2.5,
    closeness: Sequence[float] | None = None,
    n_servers: int = 12,
    server_loyalty: float = 0.7,
    n_artists: int = 2000,
    taste_strength: float = 0.7,
    ratings_per_user: float = 20.0,
    random_state: int | np.random.Generator = 0,
) -> FederatedNetwork:
    """Draw a network with nested communities, heavy-tailed degrees, home servers, and tastes that follow communities.

    n_users: users; at least two per finest community.
    branching: into how many parts the network, then each community, is split; one number per level, coarsest first.
    mean_degree: contacts per user on average (met to the nearest contact).
    tail: exponent of the power law that weights follow, and so expected degrees, up to sqrt(mean_degree * n_users); above 2,
        smaller is heavier.
    closeness: how likely a contact is drawn from the whole network, from the own community of the coarsest level, ..., of the
        finest level: one probability more than levels. Each twice as likely as the one before if absent.
    n_servers: home servers.
    server_loyalty: the probability that a user lives on the server of their finest community (neighbouring communities share
        one) rather than on one drawn by size alone; 0 makes servers independent of communities.
    n_artists: artists; at least one per finest community.
    taste_strength: the probability that an artist is drawn from the user's own community, of a level drawn evenly, rather than
        from all; 0 makes tastes independent of communities.
    ratings_per_user: different artists that a user plays, on average.
    random_state: a seed, or the generator to draw from. The same seed gives the same network, and contacts do not change with
        the arguments about servers and tastes.
    """
    levels = _communities_per_level(branching)
    finest = levels[-1]
    _at_least("n_users", n_users, 2 * finest)
    _at_least("n_servers", n_servers, 1)
    _at_least("n_artists", n_artists, finest)
    _check_between("mean_degree", mean_degree, 0.0, (n_users - 1) / 2)
    _check_between("ratings_per_user", ratings_per_user, 0.0, n_artists / 2)
    _check_between("server_loyalty", server_loyalty, 0.0, 1.0)
    _check_between("taste_strength", taste_strength, 0.0, 1.0)
    if not 2.0 < tail < math.inf:
        raise InputError(f"tail is {tail}: it must be above 2, or the mean degree would not exist")
    level_odds = _closeness(closeness, len(levels))
    contacts_rng, servers_rng, ratings_rng, shuffle_rng = np.random.default_rng(random_state).spawn(4)

    place = np.arange(n_users, dtype=np.int64)
    communities = np.column_stack([place * parts // n_users for parts in levels])
    home = communities[:, -1]
    edges = _contacts(home, levels, mean_degree, tail, level_odds, contacts_rng)
    rated = _draw_ratings(home, levels, n_artists, taste_strength, ratings_per_user, ratings_rng)
    servers = _servers(home, finest, n_servers, server_loyalty, servers_rng)

    row, artist_row = shuffle_rng.permutation(n_users), shuffle_rng.permutation(n_artists)
    servers = _move(servers, row)
    hosts = make_server_names(n_servers)
    rated = np.sort(row[rated // n_artists] * n_artists + artist_row[rated % n_artists])
    plays = 1 + ratings_rng.lognormal(mean=4.0, sigma=1.3, size=len(rated)).astype(np.int64)  # heavy-tailed, median about 55
    return FederatedNetwork(
        graph=ContactGraph.from_rows(row[np.column_stack(np.divmod(edges, n_users))], users=make_account_names(servers, hosts)),
        communities=_freeze(_move(communities, row)),
        servers=_freeze(servers),
        server_names=hosts,
        ratings=_freeze(np.column_stack((rated // n_artists, rated % n_artists, plays))),
        artist_names=make_artist_names(n_artists),
        artist_communities=_freeze(_move(np.arange(n_artists, dtype=np.int64) * finest // n_artists, artist_row)),
    )


def _contacts(
    home: NDArray[np.int64],
    levels: Sequence[int],
    mean_degree: float,
    tail: float,
    level_odds: NDArray[np.float64],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Contacts between places u < v in the line, as u * n_users + v."""
    n_users = len(home)
    line = NestedSlices(_weights(n_users, mean_degree, tail, rng), levels)

    def draw(count: int) -> NDArray[np.int64]:
        anywhere = np.zeros(count, dtype=np.int64)
        user = line.draw(anywhere, anywhere, np.sort(rng.random(count)))
        level = rng.choice(len(level_odds), size=count, p=level_odds)
        other = line.draw(level, home[user], rng.random(count))
        low, high = np.minimum(user, other), np.maximum(user, other)
        return (low * n_users + high)[low < high]

    what = f"mean_degree {mean_degree} with closeness {tuple(level_odds.tolist())}"
    return draw_distinct(draw, round(n_users * mean_degree / 2), what)


def _draw_ratings(
    home: NDArray[np.int64],
    levels: Sequence[int],
    n_artists: int,
    taste_strength: float,
    ratings_per_user: float,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Who plays whom, both as places in their lines, as user * n_artists + artist."""
    popularity = np.reciprocal(_HEAD_ARTISTS + rng.permutation(n_artists).astype(np.float64))
    line = NestedSlices(popularity, levels)

    def draw(count: int) -> NDArray[np.int64]:
        user = np.sort(rng.integers(len(home), size=count))
        own = rng.random(count) < taste_strength
        level = np.where(own, rng.integers(1, len(levels) + 1, size=count), 0)
        return user * n_artists + line.draw(level, home[user], rng.random(count))

    what = f"ratings_per_user {ratings_per_user} of n_artists {n_artists}"
    return draw_distinct(draw, round(len(home) * ratings_per_user), what)


def _servers(home: NDArray[np.int64], finest: int, n_servers: int, loyalty: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """The home server of everyone in the line."""
    size = 1.0 / np.arange(1, n_servers + 1)  # a few large servers and many small ones
    by_size = rng.permutation(n_servers)[rng.choice(n_servers, size=len(home), p=size / size.sum())]
    return np.where(rng.random(len(home)) < loyalty, home * n_servers // finest, by_size)


def _weights(n_users: int, mean_degree: float, tail: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Pareto weights, cut where two of the best connected would be expected to know each other more than once."""
    weight = (1.0 - rng.random(n_users)) ** (-1.0 / (tail - 1.0))
    capped: NDArray[np.float64] = np.minimum(weight, weight.mean() * math.sqrt(n_users / max(mean_degree, 1.0)))
    return capped


def _move(values: NDArray[np.int64], row: NDArray[np.int64]) -> NDArray[np.int64]:
    """The values in the order after everyone has moved to their new row."""
    moved = np.empty_like(values)
    moved[row] = values
    return moved


def _freeze(values: NDArray[np.int64]) -> NDArray[np.int64]:
    values.flags.writeable = False
    return values


def _communities_per_level(branching: Sequence[int]) -> list[int]:
    if len(branching) == 0 or any(parts != int(parts) or parts < 1 for parts in branching):
        raise InputError(f"branching is {tuple(branching)}: give at least one level, each a whole number of parts of at least 1")
    return [math.prod(map(int, branching[: level + 1])) for level in range(len(branching))]


def _closeness(closeness: Sequence[float] | None, n_levels: int) -> NDArray[np.float64]:
    odds: NDArray[np.float64] = np.asarray(2.0 ** np.arange(n_levels + 1) if closeness is None else closeness, dtype=np.float64)
    if closeness is None:
        odds /= odds.sum()
    if odds.shape != (n_levels + 1,) or not (odds >= 0).all() or not math.isclose(odds.sum(), 1.0, abs_tol=1e-9):
        raise InputError(
            f"closeness is {closeness}: give {n_levels + 1} probabilities that add up to 1, for everyone and for each level"
        )
    odds /= odds.sum()
    return odds


def _at_least(name: str, value: Any, least: int) -> None:
    if value != int(value) or value < least:
        raise InputError(f"{name} is {value}: it must be a whole number of at least {least}")


def _check_between(name: str, value: float, least: float, most: float) -> None:
    if not least <= value <= most:
        raise InputError(f"{name} is {value}: it must be between {least:g} and {most:g}")
