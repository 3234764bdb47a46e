from __future__ import annotations

import gzip

import pyarrow as pa
import pytest
from pyarrow import parquet

from privact.errors import InputError
from privact.recommend.data.read_ratings import read_ratings

ROWS = [("007", "waltz", 4.0), ("bob", "waltz", 1.0), ("007", "tango", 2.5)]


def text(separator, header=True):
    lines = [("user", "item", "rating"), *ROWS] if header else ROWS
    return "".join(separator.join(map(str, line)) + "\n" for line in lines)


def written(folder, name, data):
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.fixture(params=["tsv", "csv", "semicolons", "no header", "gzip", "byte order mark", "parquet"])
def file(request, tmp_path):
    """The same ratings in every form."""
    if request.param == "parquet":
        parquet.write_table(
            pa.table(dict(zip(("user", "item", "rating"), zip(*ROWS, strict=True), strict=True))), tmp_path / "r.parquet"
        )
        return tmp_path / "r.parquet"
    data = {
        "tsv": text("\t").encode(),
        "csv": text(",").encode(),
        "semicolons": text(";").encode(),
        "no header": text("\t", header=False).encode(),
        "gzip": gzip.compress(text("\t").encode()),
        "byte order mark": b"\xef\xbb\xbf" + text(",").encode(),
    }[request.param]
    return written(tmp_path, "ratings.tsv", data)


def test_every_form_gives_the_same_ratings(file):
    ratings = read_ratings(file)
    assert (ratings.users, ratings.items) == (("007", "bob"), ("waltz", "tango"))  # ids stay text
    assert ratings.matrix.toarray().tolist() == [[4.0, 2.5], [1.0, 0.0]]


def test_named_columns_are_found_wherever_they_are(tmp_path):
    path = written(tmp_path, "r.csv", b"when,item,user,rating\n9,waltz,ann,3\n")
    ratings = read_ratings(path, users=["zoe", "ann"])
    assert ratings.users == ("zoe", "ann")
    assert ratings.matrix.toarray().tolist() == [[0.0], [3.0]]


def test_two_columns_count_one_each(tmp_path):
    assert read_ratings(written(tmp_path, "r.tsv", b"ann\twaltz\nbob\twaltz\n")).matrix.toarray().tolist() == [[1.0], [1.0]]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "has one column"),
        (b"user\titem\trating\n", "no ratings in this file"),
        (b"ann\twaltz\t1\nbob\twaltz\n", "not a table of ratings"),
        (b"ann\twaltz\t1\nbob\twaltz\tgood\n", "not a table of ratings"),
        (b"ann\twaltz\t1\nbob\twaltz\t-3\n", "user 'bob', item 'waltz': the rating is -3"),
        (b"ann\twaltz\t1\nann\twaltz\t2\n", "rates item 'waltz' twice"),
        (gzip.compress(b"ann\twaltz\t1\n", mtime=0)[:-9], "the gzip data is damaged"),
    ],
)
def test_bad_files_are_one_line_that_names_the_file(tmp_path, data, told):
    path = written(tmp_path, "r.tsv", data)
    with pytest.raises(InputError) as error:
        read_ratings(path)
    assert told in str(error.value)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)


def test_files_that_are_not_there_or_not_parquet(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_ratings(tmp_path / "none.tsv")
    with pytest.raises(InputError, match="not a sound Parquet file"):
        read_ratings(written(tmp_path, "r.parquet", b"no"))
