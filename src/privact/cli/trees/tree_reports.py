"""Reports and labels of the users of a tree, for commands that recommend."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from privact.cli.files import read_labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from privact.tree.hct import HierarchicalClusterTree

__all__ = ["TreeReports", "open_reports"]


class TreeReports(NamedTuple):
    """What a file of reports and one of labels hold about the users of a tree.

    matrix: (rows, bins) the reports as they are in the file. rows: the row of each leaf.
    groups: the number of each leaf's label; None without labels.
    """

    matrix: NDArray[Any]
    rows: list[int]
    groups: list[int] | None


@contextmanager
def open_reports(tree: HierarchicalClusterTree, reports: Path, labels: Path | None) -> Iterator[TreeReports]:
    """Open the reports that a tree was learned from, with the labels that were their bins; files are closed after the block."""
    from tempfile import TemporaryDirectory

    from privact.errors import InputError
    from privact.learn.reports.report_files import read_reports
    from privact.protocol.label_files import number_labels

    users = tree.users.names() if tree.users is not None else list(map(str, range(tree.n_users)))
    groups, n_groups = number_labels(read_labels(labels, users)) if labels is not None else (None, 0)
    with TemporaryDirectory() as folder:
        found = read_reports(reports, Path(folder))
        if groups is not None and found.matrix.shape[1] != n_groups:
            raise InputError(
                f"{labels} gives the users of the tree {n_groups} labels, but {reports} counts in {found.matrix.shape[1]} bins: "
                f"give the labels that were the bins"
            )
        ids = None if found.users is None else list(map(str, found.users))
        yield TreeReports(found.matrix, _find_rows(users, ids, len(found.matrix), reports), groups)


def _find_rows(users: list[str], ids: list[str] | None, n_reports: int, file: Path) -> list[int]:
    """The row of each user in a file of reports, which without ids are in the order of the tree."""
    from privact.errors import InputError

    if ids is None:
        if n_reports != len(users):
            raise InputError(
                f"{file} has {n_reports} reports without ids, but the tree has {len(users)} users: one each, in its order"
            )
        return list(range(n_reports))
    row_of = {name: row for row, name in enumerate(ids)}
    if lacking := [name for name in users if name not in row_of]:
        raise InputError(
            f"{file} has no report of {len(lacking)} of the {len(users)} users of the tree, such as {lacking[0]!r}: "
            f"give the reports that it was learned from"
        )
    return [row_of[name] for name in users]
