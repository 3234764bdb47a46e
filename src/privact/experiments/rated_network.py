"""The paper's networks with their ratings, normalised as the paper does and in the order of the graph's users."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import MappingProxyType

from privact.errors import InputError
from privact.network.datasets import Dataset, load_dataset
from privact.network.graph import ContactGraph
from privact.recommend.ratings import Normalisation, Ratings
from privact.recommend.read_ratings import read_ratings

__all__ = ["NORMALISATION", "RatedNetwork", "load_rated", "require_rated"]

NORMALISATION: MappingProxyType[str, Normalisation] = MappingProxyType({"lastfm": "max", "delicious": "max", "douban": "stars"})
"""How the paper normalises each dataset: play and tag counts by the user's largest, scores by 5."""


@dataclass(frozen=True, eq=False)
class RatedNetwork:
    """A network whose users rate items.

    name: of the dataset.
    graph: who knows whom.
    ratings: normalised; row i is user i of the graph.
    """

    name: str
    graph: ContactGraph
    ratings: Ratings


def load_rated(name: str, data: str | None = None) -> RatedNetwork:
    """One network of the paper with its ratings.

    name: lastfm, delicious or douban.
    data: the folder of the datasets; the environment variable PRIVACT_DATA if absent.
    """
    dataset = _with_ratings(name, data)
    assert dataset.ratings is not None
    ratings = read_ratings(dataset.ratings, users=dataset.graph.users)
    return RatedNetwork(name, dataset.graph, ratings.normalised(NORMALISATION[name]))


def require_rated(names: Iterable[str], data: str | None = None) -> None:
    """Raise InputError unless every one of these networks and its ratings are there: before a long experiment, not within it."""
    for name in names:
        _with_ratings(name, data)


def _with_ratings(name: str, data: str | None) -> Dataset:
    dataset = load_dataset(name, data)
    if dataset.ratings is None:
        raise InputError(f"{name}/ratings.tsv.gz is missing: put it beside social.tsv.gz, a line 'user<TAB>item<TAB>rating' each")
    return dataset
