"""Reports in files: Parquet and Arrow in batches, .npy memory-mapped as it is.

In Parquet and Arrow, a column of text is the users' ids. The reports are the one column of lists, one list a user, or all columns
of whole numbers from left to right, one a bin.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.errors import FileFormatError, InputError
from privact.learn.reports.report_table import Batch, ReportTable, check_batch, write_report_table

ROWS = 1 << 16
"""Reports read from a file at a time."""

PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc", ".arrows")


def read_reports(path: str | Path, folder: Path) -> ReportTable:
    """The reports in a file, whatever their number in little memory.

    path: a .parquet, .arrow, .feather or .npy file. folder: for a table of them, which must stay as long as they are in use.
    """
    file = Path(path)
    ending = file.suffix.lower()
    if ending not in (".npy", *PARQUET, *ARROW):
        raise InputError(f"{path} ends in {ending or 'nothing'}: reports are read from .parquet, .arrow, .feather or .npy files")
    if not file.is_file():
        raise InputError(f"cannot read {path}: there is no such file")
    try:
        if ending == ".npy":
            return _map_file(file)
        with closing(_batches(file, ending)) as batches:
            return write_report_table(batches, folder / "reports")
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def write_reports(path: str | Path, users: Sequence[str], reports: NDArray[np.integer[Any]]) -> None:
    """Write reports to a file that `read_reports` reads, whole or not at all.

    path: ends in .parquet, for a column of ids and one of lists, or in .npy, for the numbers alone.
    users: the id of each row. reports: (n, K) whole numbers.
    """
    from privact.storage import write_whole

    check_reports_path(path)
    with write_whole(path) as stream:
        if Path(path).suffix.lower() == ".npy":
            np.save(stream, reports, allow_pickle=False)
            return
        import pyarrow as pa
        from pyarrow import parquet

        flat = pa.array(np.ascontiguousarray(reports, dtype=np.int64).ravel())
        lists = pa.FixedSizeListArray.from_arrays(flat, reports.shape[1])
        parquet.write_table(pa.table({"user": list(users), "report": lists}), stream)


def check_reports_path(path: str | Path) -> None:
    """Refuse a name under which reports cannot be written."""
    ending = Path(path).suffix.lower()
    if ending not in (".npy", *PARQUET):
        raise InputError(f"{path} ends in {ending or 'nothing'}: reports are written to .parquet or .npy files")


def _map_file(file: Path) -> ReportTable:
    try:
        matrix: NDArray[Any] = np.load(file, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise FileFormatError(f"{file} is not a sound .npy file: {_one_line(error)}") from None
    return ReportTable(check_batch(matrix, 0, None), None)


def _batches(file: Path, ending: str) -> Generator[Batch, None, None]:
    """The reports of a Parquet or Arrow file, some at a time."""
    import pyarrow as pa

    try:
        for batch in _parquet(file) if ending in PARQUET else _arrow(file):
            yield _ids(batch), _vectors(batch)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:  # the second: packed as pyarrow cannot read
        raise FileFormatError(f"{file} is not a sound {ending[1:]} file: {_one_line(error)}") from None


def _parquet(file: Path) -> Iterator[Any]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(file, memory_map=True) as source:
        yield from source.iter_batches(batch_size=ROWS)


def _arrow(file: Path) -> Iterator[Any]:
    """The batches of an Arrow file, or of an Arrow stream, cut to ROWS."""
    import pyarrow as pa

    with pa.memory_map(str(file)) as source:
        try:
            reader = pa.ipc.open_file(source)
            whole = (reader.get_batch(i) for i in range(reader.num_record_batches))
        except pa.ArrowInvalid:
            source.seek(0)
            whole = iter(pa.ipc.open_stream(source))
        for batch in whole:
            for first in range(0, batch.num_rows, ROWS):
                yield batch.slice(first, ROWS)


def _ids(batch: Any) -> list[str] | None:
    import pyarrow.types as kinds

    texts = [
        i for i, field in enumerate(batch.schema) if kinds.is_string(_value(field.type)) or kinds.is_large_string(field.type)
    ]
    if len(texts) > 1:
        names = " and ".join(repr(batch.schema.field(i).name) for i in texts)
        raise InputError(f"columns {names} are both text: keep one, the ids of users")
    if not texts:
        return None
    column = batch.column(texts[0])
    if column.null_count:
        raise InputError(f"column {batch.schema.field(texts[0]).name!r} has rows without an id: give every user one")
    ids: list[str] = column.to_pylist()
    return ids


def _value(kind: Any) -> Any:
    """The type of a dictionary's values, or the type itself."""
    return getattr(kind, "value_type", kind) if str(kind).startswith("dictionary") else kind


def _vectors(batch: Any) -> NDArray[np.integer[Any]]:
    import pyarrow.types as kinds

    fields = list(enumerate(batch.schema))
    lists = [i for i, f in fields if kinds.is_list(f.type) or kinds.is_fixed_size_list(f.type) or kinds.is_large_list(f.type)]
    bins = lists or [i for i, f in fields if kinds.is_integer(f.type)]
    if len(lists) > 1 or not bins:
        names = ", ".join(f"{f.name} ({f.type})" for _, f in fields)
        raise InputError(f"columns {names} hold no reports: give one column of lists, or one column of whole numbers a bin")
    for i in bins:
        if batch.column(i).null_count:
            raise InputError(f"column {batch.schema.field(i).name!r} has empty cells: give every user a whole report")
    if not lists:
        return np.column_stack([batch.column(i).to_numpy(zero_copy_only=False) for i in bins])
    column = batch.column(lists[0])
    values = column.flatten()
    if not kinds.is_integer(values.type) or values.null_count:
        raise InputError(f"lists of {values.type}: reports are whole numbers, as devices send them, none of them missing")
    lengths: list[int] = [] if kinds.is_fixed_size_list(column.type) else column.value_lengths().unique().to_pylist()
    if len(lengths) > 1:
        raise InputError(f"reports of {min(lengths)} and of {max(lengths)} numbers: one round has one number of bins")
    return np.asarray(values.to_numpy(zero_copy_only=False)).reshape(batch.num_rows, -1)


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
