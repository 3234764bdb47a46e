"""The networks of an experiment: the paper's, with ratings normalised as the paper does, or the caller's own.

With ratings, users and items are in random order: the order of a file follows contacts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from privact.errors import InputError
from privact.experiments.running.data_content import file_digest
from privact.network.datasets import Dataset, find_dataset_folder, find_network_file, load_dataset
from privact.network.graph import ContactGraph
from privact.network.graph_files import read_graph
from privact.recommend.data.ratings import Normalisation, Ratings, Repeats
from privact.recommend.data.read_ratings import read_ratings

__all__ = [
    "NORMALISATION",
    "OWN",
    "UNRATED",
    "Networks",
    "OwnNetwork",
    "PaperNetworks",
    "RatedNetwork",
    "in_random_order",
    "load_rated",
    "rated_content",
    "require_rated",
    "shuffle_users",
]

OWN = "own data"
"""The name of a caller's own network."""

FEWEST = 32
"""Users with ratings that a network of one's own must have: as many as there are taste groups, and folds of some users each."""

UNRATED = ("facebook",)
"""Networks for experiments on contacts alone, where the folder of the datasets has them."""

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


class Networks(Protocol):
    """Where an experiment takes its networks from.

    names: of the networks. chosen: whether the caller chose them; a quick run may take fewer otherwise.
    unrated: further networks that have no ratings.
    """

    @property
    def names(self) -> tuple[str, ...]:
        """The networks."""

    @property
    def chosen(self) -> bool:
        """Whether the caller chose them."""

    @property
    def unrated(self) -> tuple[str, ...]:
        """Further networks, without ratings."""

    def graph(self, name: str) -> ContactGraph:
        """The contacts of a network, users in the order of its file."""

    def rated(self, name: str) -> RatedNetwork:
        """A network with its ratings, in random order."""

    def content(self, name: str) -> str:
        """A digest of the contacts and ratings of a network."""

    def require_ratings(self, names: Iterable[str]) -> None:
        """Raise InputError unless these networks and their ratings are there: before a long experiment, not during it."""


class PaperNetworks:
    """The networks of the paper.

    folder: of the datasets; the environment variable PRIVACT_DATA if absent.
    chosen: some of lastfm, delicious and douban; all if empty.
    """

    def __init__(self, folder: str | None = None, chosen: Sequence[str] = ()) -> None:
        unknown = [name for name in chosen if name not in NORMALISATION]
        if unknown:
            raise InputError(f"network {unknown[0]!r} is unknown: choose among {', '.join(NORMALISATION)}")
        self.folder = folder
        self.names = tuple(chosen) or tuple(NORMALISATION)
        self.chosen = bool(chosen)

    @property
    def unrated(self) -> tuple[str, ...]:
        """Networks without ratings that are in the folder too, unless the caller chose others."""
        folder = find_dataset_folder(self.names[0], self.folder).parent
        return () if self.chosen else tuple(name for name in UNRATED if (folder / name / "social.tsv.gz").is_file())

    def graph(self, name: str) -> ContactGraph:
        """The contacts of a network, users in the order of its file."""
        if name in UNRATED:
            return read_graph(find_network_file(name, self.folder), largest_component=True)
        return load_dataset(name, self.folder).graph

    def rated(self, name: str) -> RatedNetwork:
        """A network with its ratings, in random order."""
        return load_rated(name, self.folder)

    def content(self, name: str) -> str:
        """A digest of the contacts and ratings of a network."""
        if name in UNRATED:
            return file_digest(find_network_file(name, self.folder))[:16]
        return rated_content(name, self.folder)

    def require_ratings(self, names: Iterable[str]) -> None:
        """Raise InputError unless these networks and their ratings are there."""
        require_rated(names, self.folder)


class OwnNetwork:
    """One network of the caller's own, under the name `OWN`.

    contacts: a file that `read_graph` reads; its largest connected part is taken, as for the paper's networks.
    ratings: a file that `read_ratings` reads; each is divided by the user's largest.
    repeats: what to do where a user rates an item again, see `read_ratings`.
    """

    names = (OWN,)
    chosen = True
    unrated = ()

    def __init__(self, contacts: Path, ratings: Path, repeats: Repeats = "error") -> None:
        self.contacts, self.ratings, self.repeats = contacts, ratings, repeats

    def graph(self, name: str) -> ContactGraph:
        """The contacts, users in the order of the file."""
        return read_graph(self.contacts, largest_component=True)

    def rated(self, name: str) -> RatedNetwork:
        """The network with its ratings, in random order."""
        graph = self.graph(name)
        ratings = read_ratings(self.ratings, users=graph.users, repeats=self.repeats).normalised("max")
        rated = int(np.count_nonzero(np.diff(ratings.matrix.indptr)))
        if rated < FEWEST:
            raise InputError(
                f"{rated} of the {graph.n_users} connected users of {self.contacts} have ratings in {self.ratings}, too few to "
                f"measure anything: give at least {FEWEST}"
            )
        return in_random_order(RatedNetwork(name, graph, ratings, self.content(name)))

    def content(self, name: str) -> str:
        """A digest of both files."""
        digests = [file_digest(path)[:16] for path in (self.contacts, self.ratings)]
        return " ".join(digests if self.repeats == "error" else [*digests, self.repeats])

    def require_ratings(self, names: Iterable[str]) -> None:
        """Raise InputError unless both files are there."""
        for path in (self.contacts, self.ratings):
            if not path.is_file():
                raise InputError(f"{path} is not a file: give contacts and ratings")


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
    graph = shuffle_users(network.graph, rng.permutation(network.graph.n_users))
    ratings = network.ratings.for_users(graph.users)
    order = rng.permutation(ratings.n_items)
    items = [ratings.items[item] for item in order]
    return replace(network, graph=graph, ratings=Ratings.from_csr(ratings.matrix[:, order], ratings.users, items))


def shuffle_users(graph: ContactGraph, order: Any) -> ContactGraph:
    """The same contacts with the users in another order.

    order: the row of the old graph at each place of the new one.
    """
    place = np.empty(graph.n_users, np.int64)
    place[order] = np.arange(graph.n_users)
    return ContactGraph.from_rows(place[graph.edges()], users=[graph.users[row] for row in order])


def rated_content(name: str, data: str | None = None) -> str:
    """A digest of the contacts and ratings of a network, without making anything of them.

    name, data: as for `load_rated`.
    """
    ratings = find_dataset_folder(name, data) / "ratings.tsv.gz"
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
