from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest

from privact.errors import FileFormatError, InputError
from privact.learn.reports import report_files as files
from privact.learn.reports.report_files import read_reports

VECTORS = np.array([[1, -2, 3], [4, 5, 6], [-7, 8, 9], [0, 0, 1], [2, 2, 2]])
USERS = ["ann", "bob", "cat", "dan", "eve"]


def columns(**others):
    return pa.table({"user": USERS, **{f"bin{k}": VECTORS[:, k] for k in range(3)}, **others})


def write(table, path):
    if path.suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=2)
    elif path.suffix == ".arrows":
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table)
    else:
        feather.write_feather(table, str(path), compression="uncompressed")
    return path


@pytest.fixture(autouse=True)
def few_at_a_time(monkeypatch):
    monkeypatch.setattr(files, "ROWS", 2)


@pytest.mark.parametrize("ending", ["parquet", "feather", "arrow", "arrows"])
@pytest.mark.parametrize(
    "table",
    [
        columns(),
        pa.table({"counts": pa.array(VECTORS.tolist(), pa.list_(pa.int16())), "id": USERS}),
        pa.table({"id": USERS, "counts": pa.array(VECTORS.tolist(), pa.list_(pa.int64(), 3))}),
        pa.table({"id": pa.array(USERS, pa.large_string()), "counts": pa.array(VECTORS.tolist(), pa.large_list(pa.int8()))}),
        pa.table({"id": pa.array(USERS).dictionary_encode(), "counts": pa.array(VECTORS.tolist(), pa.list_(pa.int32()))}),
    ],
    ids=["a column a bin", "lists", "fixed lists", "large lists", "dictionary"],
)
def test_columns_or_lists_with_ids(table, ending, tmp_path):
    found = read_reports(write(table, tmp_path / f"reports.{ending}"), tmp_path)
    assert found.matrix.tolist() == VECTORS.tolist()
    assert list(found.users) == USERS


def test_reports_without_ids(tmp_path):
    found = read_reports(write(columns().drop_columns("user"), tmp_path / "reports.parquet"), tmp_path)
    assert (found.matrix.tolist(), found.users) == (VECTORS.tolist(), None)


def test_numpy_files_are_mapped_as_they_are(tmp_path):
    path = tmp_path / "reports.npy"
    np.save(path, VECTORS)
    found = read_reports(path, tmp_path)
    assert isinstance(found.matrix, np.memmap)
    assert (found.matrix.tolist(), found.users) == (VECTORS.tolist(), None)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (columns(name=["a", "b", "c", "d", "e"]), "columns 'user' and 'name' are both text"),
        (pa.table({"user": USERS, "x": [0.5] * 5}), r"user \(string\), x \(double\) hold no reports"),
        (pa.table({"user": USERS}), "hold no reports"),
        (columns(bin3=[1, 2, None, 4, 5]), "column 'bin3' has empty cells"),
        (columns().set_column(0, "user", pa.array(["a", None, "c", "d", "e"])), "column 'user' has rows without an id"),
        (pa.table({"counts": [[1, 2], [3], [4, 5], [1, 1], [1, 1]]}), "reports of 1 and of 2 numbers"),
        (pa.table({"counts": [[1, 2], [3, 1], [4, 5, 6], [1, 1, 2], [1, 1, 2]]}), "from row 2 on have 3 bins, those before 2"),
        (pa.table({"counts": [[0.5, 2.0]] * 5}), "lists of double"),
        (pa.table({"a": [[1, 2]] * 5, "b": [[1, 2]] * 5}), "hold no reports"),
        (columns().set_column(0, "user", pa.array(["a", "b", "a", "d", "e"])), "user id 'a' occurs twice"),
    ],
)
def test_tables_that_are_no_reports_are_refused_by_name(table, message, tmp_path):
    path = write(table, tmp_path / "reports.parquet")
    with pytest.raises(InputError, match=message) as caught:
        read_reports(path, tmp_path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["reports.parquet", "reports.arrow", "reports.npy"])
@pytest.mark.parametrize("content", [b"", b"PAR1 and then nothing", b"\x93NUMPY\x01\x00"])
def test_damaged_files_are_refused_in_one_line(name, content, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=f"{name} is not a sound") as caught:
        read_reports(path, tmp_path)
    assert "\n" not in str(caught.value)


def test_a_numpy_file_of_fractions_or_another_shape_is_refused(tmp_path):
    path = tmp_path / "reports.npy"
    np.save(path, VECTORS + 0.5)
    with pytest.raises(InputError, match="type float64"):
        read_reports(path, tmp_path)
    np.save(path, VECTORS.ravel())
    with pytest.raises(InputError, match="shape"):
        read_reports(path, tmp_path)


def test_files_that_are_not_there_or_of_another_kind(tmp_path):
    with pytest.raises(InputError, match="there is no such file"):
        read_reports(tmp_path / "reports.parquet", tmp_path)
    with pytest.raises(InputError, match=r"ends in \.csv"):
        read_reports(tmp_path / "reports.csv", tmp_path)
