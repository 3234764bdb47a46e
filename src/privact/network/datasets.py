"""The three networks of the paper's Table 1; their licences do not allow shipping them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from privact.errors import InputError
from privact.network.graph import ContactGraph
from privact.network.graph_files import read_graph

__all__ = ["DATA_VARIABLE", "TABLE_1", "Dataset", "NetworkSize", "find_dataset_folder", "load_dataset"]

DATA_VARIABLE = "PRIVACT_DATA"


class NetworkSize(NamedTuple):
    """How large a network is.

    n_users: users of its largest connected component.
    n_edges: pairs of them who know each other.
    """

    n_users: int
    n_edges: int


TABLE_1 = MappingProxyType(
    {
        "lastfm": NetworkSize(1843, 12668),
        "delicious": NetworkSize(1503, 6350),
        "douban": NetworkSize(2848, 25185),
    }
)
"""The sizes that the paper's Table 1 states."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """One network of the paper.

    name: lastfm, delicious or douban.
    graph: its largest connected component, users in the order of the file.
    ratings: the gzipped, tab-separated file of who rated what (header: user, item, rating), ids as in the graph; None if it
        is not there.
    """

    name: str
    graph: ContactGraph
    ratings: Path | None


def load_dataset(name: str, data: str | os.PathLike[str] | None = None) -> Dataset:
    """Read one network of the paper from DIR/<name>/social.tsv.gz.

    name: lastfm, delicious or douban.
    data: the folder DIR; the environment variable PRIVACT_DATA if absent.
    """
    social = find_dataset_folder(name, data) / "social.tsv.gz"
    if not social.is_file():
        raise InputError(
            f"{social} is missing: get it with `privact data get {name}`, or put gzipped lines 'user<TAB>friend' there"
        )
    ratings = social.with_name("ratings.tsv.gz")
    return Dataset(name, read_graph(social, largest_component=True), ratings if ratings.is_file() else None)


def find_dataset_folder(name: str, data: str | os.PathLike[str] | None = None) -> Path:
    """The folder of one network of the paper, whether or not it is there.

    name, data: as for `load_dataset`.
    """
    if name not in TABLE_1:
        raise InputError(f"dataset {name!r} is not one of {', '.join(TABLE_1)}: read other networks with read_graph")
    return _find_data_folder(name, data) / name


def find_network_file(name: str, data: str | os.PathLike[str] | None = None) -> Path:
    """The file of contacts of any network in the data folder, DIR/<name>/social.tsv.gz; InputError if it is not there.

    data: as for `load_dataset`.
    """
    social = _find_data_folder(name, data) / name / "social.tsv.gz"
    if not social.is_file():
        raise InputError(f"{social} is missing: put gzipped lines 'user<TAB>friend' there")
    return social


def _find_data_folder(name: str, data: str | os.PathLike[str] | None) -> Path:
    folder = data if data is not None else os.environ.get(DATA_VARIABLE)
    if not folder:
        raise InputError(
            f"no folder for dataset {name!r}: pass --data DIR or set {DATA_VARIABLE}; `privact data get {name}` fills DIR"
        )
    return Path(folder)
