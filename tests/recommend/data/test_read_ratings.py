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
        (b"ann\twaltz\tgood\nbob\twaltz\t3\n", "'ann waltz good', is no header, and 'good' is no rating"),
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


@pytest.mark.parametrize(
    "data",
    [
        b"userId,movieId,rating,timestamp\n007,waltz,4,1\nbob,waltz,1,2\n007,tango,2.5,3\n",
        b"007::waltz::4::978\nbob::waltz::1::979\n007::tango::2.5::980\n",
        b"UserID::MovieID::Rating\n007::waltz::4\nbob::waltz::1\n007::tango::2.5\n",
        b"007 waltz 4\nbob waltz 1\n007 tango 2.5\n",
        b" 007  waltz   4 \r\nbob   waltz   1\r\n007   tango   2.5\r\n",
        b"who   what    how\n007   waltz   4\nbob   waltz   1\n007   tango   2.5\n",
        b"Score;Track Name;Listener\n4;waltz;007\n1;waltz;bob\n2.5;tango;007\n",
        b"who,what,how\n007,waltz,4\nbob,waltz,1\n007,tango,2.5\n",
    ],
)
def test_separators_and_headers_of_other_names(tmp_path, data):
    ratings = read_ratings(written(tmp_path, "ratings.txt", data))
    assert (ratings.users, ratings.items) == (("007", "bob"), ("waltz", "tango"))
    assert ratings.matrix.toarray().tolist() == [[4.0, 2.5], [1.0, 0.0]]


def test_a_first_line_that_may_be_a_header_is_asked_about(tmp_path):
    path = written(tmp_path, "r.csv", b"who,what\nann,waltz\nbob,waltz\n")
    with pytest.raises(InputError, match="'who what', may be a header or a rating"):
        read_ratings(path)
    assert read_ratings(path, header=True).users == ("ann", "bob")
    assert read_ratings(path, header=False).users == ("who", "ann", "bob")


@pytest.mark.parametrize(("repeats", "value"), [("last", 5.0), ("mean", 3.0)])
def test_repeated_ratings_are_merged_as_told(tmp_path, repeats, value):
    path = written(tmp_path, "r.tsv", b"ann\twaltz\t1\nbob\twaltz\t2\nann\twaltz\t5\n")
    assert read_ratings(path, repeats=repeats).matrix.toarray().tolist() == [[value], [2.0]]
    with pytest.raises(InputError, match="'ann' rates item 'waltz' twice"):
        read_ratings(path)
    with pytest.raises(InputError, match="repeats 'first' is unknown"):
        read_ratings(path, repeats="first")
