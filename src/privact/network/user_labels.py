"""Public labels of users, in any of the forms a person holds them -> one bin number a user."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.errors import InputError
from privact.ids import keep_id
from privact.network.graph import ContactGraph

__all__ = ["number_bins"]


def number_bins(bins: Any, graph: ContactGraph, X: Any) -> NDArray[np.int32]:
    """(n) the bin of each user, -1 for none.

    bins: whole numbers from 0 to n - 1, one a user in the order of the graph, with -1 for none; or labels (text, larger numbers
        such as postcodes, any other values, None or NaN for none), which are numbered in ascending order: one a user, a dict or
        a pandas Series from id to label, or the name of a node attribute where X is a networkx graph.
    """
    if isinstance(bins, str):
        labels = _by_id(_node_attribute(bins, X), graph)
    elif isinstance(bins, Mapping):
        labels = _by_id(bins, graph)
    elif hasattr(bins, "index") and hasattr(bins, "items") and hasattr(bins, "to_numpy"):  # a Series
        by_id = {str(keep_id(user)) for user in bins.index}
        labels = _by_id(dict(bins.items()), graph) if by_id & set(graph.names) else bins.tolist()
    else:
        given = np.asarray(bins)
        if given.ndim == 1 and given.dtype.kind in "iu" and not _are_codes(given, graph.n_users):
            return _check_numbers(given, graph.n_users)
        if given.ndim == 0:
            number = isinstance(bins, (int, np.integer)) and not isinstance(bins, bool)
            way_out = (
                f"n_bins={bins} is the number of bins"
                if number
                else "give 'random', one label a user, or a dict from id to label"
            )
            raise InputError(f"bins is {bins!r}: {way_out}")
        if given.ndim != 1:
            raise InputError(f"bins have shape {given.shape}: give one label for each of {graph.n_users} users")
        labels = [*bins] if not isinstance(bins, np.ndarray) else bins.tolist()
    if len(labels) != graph.n_users:
        raise InputError(f"{len(labels)} bins for {graph.n_users} users: give one label a user, or a dict from id to label")
    return _number(labels)


def _are_codes(given: NDArray[Any], n_users: int) -> bool:
    """Whether whole numbers are labels, such as postcodes, rather than bins: one a user, and more than there can be bins."""
    return len(given) == n_users and bool(given.min() >= 0 and given.max() >= n_users)


def _check_numbers(given: NDArray[Any], n_users: int) -> NDArray[np.int32]:
    if given.shape != (n_users,):
        raise InputError(f"bins have shape {given.shape}: give one whole number for each of {n_users} users")
    if given.min() < -1 or given.max() < 0:
        raise InputError(f"bins go from {given.min()} to {given.max()}: they must start at 0, with -1 for no bin")
    return given.astype(np.int32)


def _node_attribute(name: str, X: Any) -> dict[Any, Any]:
    """The attribute of every node of a networkx graph that has it."""
    if not (hasattr(X, "adj") and hasattr(X, "nodes")):
        raise InputError(f"bins {name!r} is unknown: use 'random', labels of users, or a node attribute of a networkx graph")
    found = {node: attributes[name] for node, attributes in X.nodes(data=True) if name in attributes}
    if not found:
        raise InputError(f"bins {name!r} is neither 'random' nor an attribute of any node of this graph: name one they have")
    return found


def _by_id(label_of: Mapping[Any, Any], graph: ContactGraph) -> list[Any]:
    """The label of each user, None where there is none."""
    if not len(label_of):
        raise InputError(f"bins is empty: give a label for each of {graph.n_users} users, or 'random'")
    by_name = {str(keep_id(user)): label for user, label in label_of.items()}
    labels = [by_name.get(name) for name in graph.names]
    if all(label is None for label in labels):
        some = next(iter(label_of), None)
        raise InputError(f"bins name none of the {graph.n_users} users, but for example {some!r}: check the ids")
    known = set(graph.names)
    strangers = [name for name in by_name if name not in known]
    missing = [name for name in graph.names if name not in by_name]
    if strangers:
        count = f"{len(strangers):,} of {len(by_name):,}"
        _warn(f"users who are not in the graph, such as {strangers[0]!r}, have a label: {count} are ignored")
    if missing:
        _warn(f"users without a label, such as {missing[0]!r}, are in no bin: {len(missing):,} of {len(known):,}")
    return labels


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=6)


def _number(labels: list[Any]) -> NDArray[np.int32]:
    """Labels as bins 0, 1, ... in ascending order, -1 for None and NaN."""
    names = {label for label in labels if label is not None and label == label}
    if not names:
        raise InputError("bins have no label: give at least one user a label")
    try:
        ordered = sorted(names)
    except TypeError:  # numbers beside text
        ordered = sorted(names, key=str)
    place = {label: number for number, label in enumerate(ordered)}
    return np.array([place.get(label, -1) if label == label else -1 for label in labels], np.int32)
