"""Whatever a person holds a contact graph in -> ContactGraph. A warning says where weights or direction are not used."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.errors import GraphError
from privact.network._text_layout import is_column_name
from privact.network.graph import ContactGraph
from privact.network.graph_files import read_graph

__all__ = ["GraphInput", "as_graph"]

GraphInput = Any
"""What `as_graph` reads. A type checker cannot say it: most of these libraries are optional."""

_FORMS = "a ContactGraph, a networkx graph, a square matrix, pairs of ids, a dict of contacts, a data frame or the path of a file"
_WEIGHT_NAMES = ("weight", "weights")


def as_graph(X: GraphInput) -> ContactGraph:
    """A contact graph from any of these; contacts are mutual and unweighted, and a warning says so where `X` has more.

    - ContactGraph; networkx graph of any kind, its nodes are the users.
    - SciPy sparse or dense square matrix: two users know each other if either entry is not zero. Users are the row numbers,
      or the index of a pandas frame whose columns are the same.
    - Pairs of ids: an array of two columns, or of three with a weight; an iterable of pairs, or of triples as networkx
      writes them. A 3 x 3 array is a matrix if it is symmetric.
    - A dict from each user to a list or dict of contacts, as networkx writes adjacency.
    - Data frame of pandas, polars (lazy ones too) or pyarrow: the two columns whose names are those of contacts (source, target,
      user, friend and so on), otherwise the first two, which a warning says; further columns are not read.
    - Path of a file, see `read_graph`.
    """
    if isinstance(X, ContactGraph):
        return X
    if isinstance(X, (str, os.PathLike)):
        if "\n" in str(X):
            raise GraphError(f"cannot read a graph from a text of several lines: give {_FORMS}")
        return read_graph(X)
    if hasattr(X, "read"):
        raise GraphError(f"cannot read a graph from an open file: give its path, {getattr(X, 'name', 'such as contacts.tsv')!r}")
    if hasattr(X, "tocoo"):
        return _from_matrix(X)
    if hasattr(X, "adj") and hasattr(X, "nodes"):
        return _from_networkx(X)
    if hasattr(X, "collect") and hasattr(X, "collect_schema"):  # a lazy frame of polars
        X = X.collect()
    if hasattr(X, "column_names") or hasattr(X, "columns"):  # pyarrow calls them so, pandas and polars call them columns
        return _from_frame(X, list(X.column_names if hasattr(X, "column_names") else X.columns))
    if hasattr(X, "__array__"):
        return _from_array(np.asarray(X))
    if isinstance(X, Mapping) and not isinstance(X, Set):  # networkx's G.edges is both, and has pairs for keys
        return _from_neighbours(X)
    if isinstance(X, Iterable) and not isinstance(X, bytes):
        return _from_pairs(list(X))
    raise GraphError(f"cannot read a graph from {type(X).__name__}: give {_FORMS}")


def _from_matrix(matrix: Any, users: Sequence[Any] | None = None) -> ContactGraph:
    """The graph of a sparse matrix whose entries were looked at."""
    entries = matrix.tocoo()
    _check_weights(np.asarray(entries.data))
    graph = ContactGraph.from_scipy(matrix, users)
    rows, columns = entries.row[entries.data != 0], entries.col[entries.data != 0]
    above, below = int(np.count_nonzero(rows < columns)), int(np.count_nonzero(rows > columns))
    if above and below and not above == below == graph.n_edges:
        _warn("the matrix is not symmetric: direction is dropped, two users know each other if either entry is not zero")
    return graph


def _from_networkx(source: Any) -> ContactGraph:
    if source.is_directed():
        _warn("the graph is directed: direction is dropped, a -> b and b -> a are one contact")
    weights = [attributes["weight"] for *_, attributes in source.edges(data=True) if "weight" in attributes]
    _check_weights(_as_weights(weights))
    return ContactGraph.from_networkx(source)


def _from_frame(frame: Any, names: list[Any]) -> ContactGraph:
    index = list(frame.index) if hasattr(frame, "index") and hasattr(frame.index, "tolist") else None
    if index is not None and index == names and len(index) > 1:
        from scipy.sparse import csr_array

        return _from_matrix(csr_array(_as_numbers(frame.to_numpy())), users=index)
    if len(names) < 2:
        raise GraphError(f"a data frame of {len(names)} columns: a contact needs two, such as source and target")
    known = [name for name in names if is_column_name(str(name))]
    first, second = known[:2] if len(known) >= 2 else names[:2]
    rest = [name for name in names if name not in (first, second)]
    if rest and len(known) < 2 and any(isinstance(name, str) for name in names):
        unread = ", ".join(repr(name) for name in rest)
        _warn(f"columns {first!r} and {second!r} are taken for contacts, as the first two; not read: {unread}")
    weights = [name for name in rest if str(name).lower() in _WEIGHT_NAMES]
    for name in weights or (rest if len(rest) == 1 else []):
        values = np.asarray(frame[name].to_numpy())
        if values.dtype.kind in "iufb":
            _check_weights(values)
    ends = [np.asarray(frame[name].to_numpy()) for name in (first, second)]
    if all(column.dtype.kind in "iuf" for column in ends):
        return ContactGraph.from_edges(np.column_stack(ends))
    return ContactGraph.from_edges(zip(ends[0].tolist(), ends[1].tolist(), strict=True))


def _from_array(array: NDArray[Any]) -> ContactGraph:
    if array.dtype.kind == "c":
        raise GraphError("Complex data not supported: give real numbers")
    if array.ndim == 2 and array.shape[1] == 0:
        raise GraphError(f"an array of 0 feature(s) (shape={array.shape}) while a minimum of 2 is required: give pairs of ids")
    if array.ndim != 2:
        raise GraphError(f"cannot read a graph from an array of shape {array.shape}: give {_FORMS}")
    rows, columns = array.shape
    if columns == 2:
        return ContactGraph.from_edges(array)
    if rows == columns and (columns != 3 or _is_symmetric(array)):
        from scipy.sparse import csr_array

        return _from_matrix(csr_array(_as_numbers(array)))
    if columns == 3:
        _check_weights(_as_weights(array[:, 2].tolist()))
        return ContactGraph.from_edges(array[:, :2])
    way_out = (
        "its transpose, of pairs of ids" if rows == 2 else "(n, n) entries, or (m, 2) pairs of ids; learn_tree takes vectors"
    )
    raise GraphError(f"cannot read a graph from an array of shape {array.shape}: give {way_out}")


def _from_neighbours(contacts_of: Mapping[Any, Any]) -> ContactGraph:
    """The graph of a dict from each user to a list or a dict of contacts; users who are only named as contacts come last."""
    for user, contacts in contacts_of.items():
        if isinstance(contacts, (str, bytes)) or not isinstance(contacts, Iterable):
            raise GraphError(f"user {user!r} has the contacts {contacts!r}: a dict must give a list of ids for each user")
    weights = [weight for contacts in contacts_of.values() if isinstance(contacts, Mapping) for weight in contacts.values()]
    _check_weights(_as_weights(weights))
    pairs = [(user, other) for user, contacts in contacts_of.items() for other in contacts]
    users = dict.fromkeys([*contacts_of, *(other for _, other in pairs)])
    return ContactGraph.from_edges(pairs, users=list(users))


def _from_pairs(pairs: list[Any]) -> ContactGraph:
    try:
        lengths = {len(pair) for pair in pairs}
    except TypeError:
        raise GraphError(f"cannot read a graph from a list of {type(pairs[0]).__name__}: give {_FORMS}") from None
    text = next((pair for pair in pairs if isinstance(pair, (str, bytes))), None)
    if text is not None:
        raise GraphError(f"the text {text!r} is no contact: give pairs of ids, such as ('ada', 'bob'), or the path of a file")
    if lengths == {len(pairs)} and lengths != {2} and not any(isinstance(pair, tuple) for pair in pairs):
        return _from_array(np.asarray(pairs))
    if lengths == {3}:
        _check_weights(_as_weights([pair[2] for pair in pairs]))
        return ContactGraph.from_edges([pair[:2] for pair in pairs])
    return ContactGraph.from_edges(pairs)


def _is_symmetric(array: NDArray[Any]) -> bool:
    return bool(
        ((array == array.T) | ((array != array) & (array.T != array.T))).all()
    )  # NaN is no number, and not equal to itself


def _as_numbers(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind in "iufb":
        return array
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        raise GraphError(f"a matrix of type {array.dtype} with something other than numbers: argument must be numbers") from None


def _as_weights(values: Iterable[Any]) -> NDArray[np.float64]:
    """Weights as numbers; those of networkx's attributes are under "weight"."""
    plain = [value.get("weight", 1.0) if isinstance(value, dict) else value for value in values]
    try:
        return np.array(plain, dtype=np.float64)
    except (TypeError, ValueError):
        odd = next(value for value in plain if not isinstance(value, (int, float, np.number)))
        raise GraphError(f"{odd!r} stands where a weight belongs: give pairs of ids, or triples with a number") from None


def _check_weights(weights: NDArray[Any]) -> None:
    """Refuse weights that mean nothing, and say that others are not used."""
    if weights.dtype.kind == "c":
        raise GraphError("Complex data not supported: give real numbers")
    numbers = weights.astype(np.float64)
    if not np.isfinite(numbers).all():
        raise GraphError("a contact has the weight NaN or inf: drop such contacts, or give them the weight 1")
    if (numbers < 0).any():
        raise GraphError(f"Negative values in data: a contact has the weight {numbers.min():g}; drop it, or make it positive")
    used = numbers[numbers != 0]
    if len(used) and (used != 1).any():
        other = used[used != 1][0]
        _warn(f"weights (such as {other:g}) are ignored: two users either know each other or do not")


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=5)
