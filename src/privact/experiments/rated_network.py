"""The paper's networks with their ratings, normalised as the paper does, with users and items in random order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from privact.errors import InputError
from privact.experiments.data_content import file_digest
from privact.network.datasets import Dataset, dataset_folder, load_dataset
from privact.network.graph import ContactGraph
from privact.recommend.data.ratings import Normalisation, Ratings
from privact.recommend.data.read_ratings import read_ratings

__all__ = ["NORMALISATION", "RatedNetwork", "in_random_order", "load_rated", "rated_content", "require_rated", "shuffled"]

NORMALISATION: MappingProxyType[str, Normalisation] = MappingProxyType({"lastfm": "max", "delicious": "max", "douban": "stars"})
"""How the paper normalises each dataset: play and tag counts by the user's largest, scores by 5."""


@dataclass(frozen=True, eq=False)
class RatedNetwork:
    """A network whose users rate items.

    name: of the dataset.
    graph: who knows whom.
    ratings: normalised; row i is user i of the graph.
    content: a digest of the files it was read from: what is kept of an experiment belongs to them alone.
    """

    name: str
    graph: ContactGraph
    ratings: Ratings
    content: str = ""


def load_rated(name: str, data: str | None = None) -> RatedNetwork:
    """One network of the paper with its ratings, users and items in an order that says nothing.

    name: lastfm, delicious or douban.
    data: the folder of the datasets; the environment variable PRIVACT_DATA if absent.
    """
    dataset = _with_ratings(name, data)
    assert dataset.ratings is not None
    ratings = read_ratings(dataset.ratings, users=dataset.graph.users)
    normalised = ratings.normalised(NORMALISATION[name])
    return in_random_order(RatedNetwork(name, dataset.graph, normalised, rated_content(name, data)))


def in_random_order(network: RatedNetwork) -> RatedNetwork:
    """The network with users and items shuffled, because files know too much.

    The order of users follows contacts, and ties in a tree would repeat it. Items are numbered as users first rated them, hidden
    ratings included: among items that a model cannot tell apart, the smallest numbers would be those of the file's first users.
    """
    rng = np.random.default_rng(7)
    graph = shuffled(network.graph, rng.permutation(network.graph.n_users))
    ratings = network.ratings.for_users(graph.users)
    order = rng.permutation(ratings.n_items)
    items = [ratings.items[item] for item in order]
    return replace(network, graph=graph, ratings=Ratings.from_csr(ratings.matrix[:, order], ratings.users, items))


def shuffled(graph: ContactGraph, order: Any) -> ContactGraph:
    """The same contacts with the users in another order.

    order: the row of the old graph at each place of the new one.
    """
    place = np.empty(graph.n_users, np.int64)
    place[order] = np.arange(graph.n_users)
    return ContactGraph.from_edges(place[graph.edges()], users=[graph.users[row] for row in order])


def rated_content(name: str, data: str | None = None) -> str:
    """A digest of the contacts and ratings of a network, without making anything of them.

    name, data: as for `load_rated`.
    """
    ratings = dataset_folder(name, data) / "ratings.tsv.gz"
    return " ".join(file_digest(path)[:16] for path in (ratings.with_name("social.tsv.gz"), ratings))


def require_rated(names: Iterable[str], data: str | None = None) -> None:
    """Raise InputError unless every one of these networks and its ratings are there: before a long experiment, not within it."""
    for name in names:
        _with_ratings(name, data)


def _with_ratings(name: str, data: str | None) -> Dataset:
    dataset = load_dataset(name, data)
    if dataset.ratings is None:
        raise InputError(f"{name}/ratings.tsv.gz is missing: put it beside social.tsv.gz, a line 'user<TAB>item<TAB>rating' each")
    return dataset
