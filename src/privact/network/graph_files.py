"""read_graph: file -> ContactGraph, whatever of the usual formats the file is in."""

from __future__ import annotations

import gzip
import io
import os
import re
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

from privact.errors import GraphError, MissingExtraError
from privact.network._edge_list import parse_edge_list
from privact.network._text_layout import strip_comments
from privact.network.graph import ContactGraph

__all__ = ["read_graph"]

_FIRST_BYTES = 1 << 16  # in which the first line ends


def read_graph(path: str | os.PathLike[str], largest_component: bool = False, header: bool | None = None) -> ContactGraph:
    """Read a contact graph from an edge list, GraphML, GML or MatrixMarket file, plain or gzipped.

    Edge lists (.tsv, .csv, .txt, any other name): UTF-8, one contact per line, the first two columns are user ids (any text;
    blanks around them do not count), more columns are ignored but every line must have the same number. Columns are separated
    by tabs, commas, semicolons or runs of blanks, whichever the first 100 lines show (the first of these that cuts at least half
    of them; tabs and blanks both, where that leaves nothing but numbers); with the first three, ids may stand in double quotes.
    Lines that start with # or %, and blank lines, are skipped. Direction is dropped; contacts named again (in either
    direction) and self loops are dropped and counted. Users are numbered in order of first appearance; those of a .mtx file
    are its rows, numbered from 0. Ids are text, also where they look like numbers.

    path: the file; .graphml, .gml and .mtx, each with or without .gz, tell their format, anything else is an edge list.
    largest_component: keep only the largest connected part.
    header: whether an edge list starts with a line of column names. None looks: the first line is a header if its first two
        fields are two different column names (user, friend, contact, account, member, node, neighbour, source, target, src, dst,
        from, to, follower, followee, following, followed; any case, with or without "id" behind) or if neither of them is a
        number while the first two fields of the next line both are. A first line of two words without digits that occur nowhere
        else may be either, so the error asks.
    """
    file = Path(path)
    name = str(path)
    data = _bytes_of(file, name)
    suffix = Path(file.name.lower().removesuffix(".gz")).suffix
    if suffix in (".graphml", ".gml"):
        graph = _from_markup(data, name, suffix)
    elif suffix == ".mtx":
        graph = _from_matrix_market(data, name)
    else:
        graph = parse_edge_list(data, name, header)
        if header is None:
            _ask_about_header(graph, data, name)
    graph = replace(graph, users=graph.names)  # ids in files are text
    if largest_component:
        graph = graph.largest_component()
    if graph.n_users < 2:
        raise GraphError(f"{name}: {graph.users[0]!r} is the only user: a contact graph needs at least two")
    return graph


def _ask_about_header(graph: ContactGraph, data: bytes, name: str) -> None:
    """Refuse a first line that may be a header of unknown names: two words that occur nowhere else, where other ids do."""
    if graph.n_users < 4 or graph.degrees[0] != 1 or graph.indices[0] != 1 or graph.degrees[1] != 1:
        return
    if graph.degrees.max() == 1:  # the first line is like all others
        return
    first, second = graph.names[:2]
    first_line = strip_comments(data[:_FIRST_BYTES]).lstrip().split(b"\n", 1)[0]
    if first.encode() in first_line and not any(map(str.isdigit, first + second)):
        raise GraphError(
            f"{name}: {first!r} and {second!r} of the first line occur nowhere else: if it is a header, put # before it; if it "
            "is a contact, put a line 'source target' above it"
        )


def _bytes_of(file: Path, name: str) -> bytes:
    """The whole file, unpacked."""
    try:
        data = file.read_bytes()
        if file.name.lower().endswith(".gz") or data.startswith(b"\x1f\x8b"):
            return gzip.decompress(data)
        return data
    except EOFError:
        raise GraphError(f"{name}: the gzip data ends too early: the file is truncated, fetch it again") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise GraphError(
            f"{name}: not a sound gzip file ({_one_line(error)}): fetch it again, or drop .gz from its name"
        ) from None
    except OSError as error:
        raise GraphError(f"{name}: cannot be read: {error.strerror or _one_line(error)}") from None


def _from_markup(data: bytes, name: str, suffix: str) -> ContactGraph:
    """The graph of a GraphML or GML file."""
    try:
        import networkx
    except ImportError:
        raise MissingExtraError("networkx", "graph", f"reading a {suffix} file") from None
    try:
        parsed = networkx.read_graphml(io.BytesIO(data)) if suffix == ".graphml" else _parse_gml(networkx, data)
    except Exception as error:  # whatever the parser meets in a damaged file: there is no list of it
        raise GraphError(f"{name}: not a sound {suffix[1:]} file: {_one_line(error)}") from None
    if parsed.number_of_nodes() == 0:
        raise GraphError(f"{name}: no users in this {suffix[1:]} file")
    return ContactGraph.from_networkx(parsed)


def _parse_gml(networkx: Any, data: bytes) -> Any:
    text = data.decode("utf-8-sig")
    if not re.search(r"\bmultigraph\b", text):  # a contact named twice is then kept, to be counted, rather than refused
        text = re.sub(r"^(\s*graph\s*\[)", r"\1 multigraph 1", text, count=1, flags=re.MULTILINE)
    try:
        return networkx.parse_gml(text)
    except networkx.NetworkXError as error:
        if "label" not in str(error):
            raise
        return networkx.parse_gml(text, label="id")


def _from_matrix_market(data: bytes, name: str) -> ContactGraph:
    """The graph of a MatrixMarket file."""
    from scipy.io import mmread
    from scipy.sparse import coo_array

    try:
        matrix = coo_array(mmread(io.BytesIO(data)))
    except Exception as error:  # whatever the parser meets in a damaged file: there is no list of it
        raise GraphError(f"{name}: not a sound MatrixMarket file: {_one_line(error)}") from None
    try:
        return ContactGraph.from_scipy(matrix)
    except GraphError as error:
        raise GraphError(f"{name}: {error}") from None


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
