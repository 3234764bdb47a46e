from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

from privact.errors import InputError, UnknownUserError
from privact.recommend.data.ratings import Ratings

FRAME = {"user": ["ann", "bob", "ann"], "item": ["waltz", "waltz", "tango"], "rating": [4, 1, 2]}
DENSE = [[4.0, 2.0], [1.0, 0.0]]


class Columns:
    """As pandas and polars frames answer: a column by name, with to_numpy."""

    def __init__(self, columns):
        self.columns = columns

    def __getitem__(self, name):
        return pa.array(self.columns[name])


class Index(dict):
    """As an index of pandas: it names the columns, and is neither true nor false."""

    def __bool__(self):
        raise ValueError("the truth value of an Index is ambiguous")


@pytest.mark.parametrize("frame", [FRAME, pa.table(FRAME), Columns(FRAME)], ids=["dict", "pyarrow", "frame"])
def test_a_frame_has_a_rating_a_row(frame):
    ratings = Ratings.from_frame(frame)
    assert (ratings.users, ratings.items) == (("ann", "bob"), ("waltz", "tango"))
    assert ratings.matrix.toarray().tolist() == DENSE
    assert ratings.counts.tolist() == [2, 1]
    assert ratings.activity.tolist() == [2, 1]
    assert ratings.binary.toarray().tolist() == [[1, 1], [1, 0]]


def test_a_matrix_gives_the_same_ratings_as_a_frame():
    ratings = Ratings.from_csr(csr_array(DENSE), users=["ann", "bob"], items=["waltz", "tango"])
    assert ratings.matrix.toarray().tolist() == Ratings.from_frame(FRAME).matrix.toarray().tolist()
    assert Ratings.from_csr(csr_array(DENSE)).users == ("0", "1")


def test_numbers_as_ids_become_text_also_after_a_frame_made_them_floats():
    whole = Ratings.from_frame({"user": [7, 3], "item": [1, 1], "rating": [1, 1]})
    floats = Ratings.from_frame({"user": np.array([7.0, 3.0]), "item": [1, 1], "rating": [1, 1]})
    assert whole.users == floats.users == ("7", "3")


def test_nothing_played_is_no_rating_and_rows_without_a_rating_column_count_one():
    assert Ratings.from_frame({**FRAME, "rating": [4, 0, 2]}).n_ratings == 2
    assert Ratings.from_frame(FRAME, rating=None).matrix.toarray().tolist() == [[1, 1], [1, 0]]


def test_users_can_be_brought_into_another_order():
    ratings = Ratings.from_frame(FRAME, users=["zoe", "bob"])
    assert ratings.users == ("zoe", "bob")
    assert ratings.items == ("waltz",)  # only ann has the other
    assert ratings.matrix.toarray().tolist() == [[0.0], [1.0]]


def test_counts_are_divided_by_the_users_largest_and_stars_by_five():
    assert Ratings.from_frame(FRAME).normalised("max").matrix.toarray().tolist() == [[1.0, 0.5], [1.0, 0.0]]
    assert Ratings.from_frame(FRAME).normalised("stars").matrix.toarray() == pytest.approx(np.array(DENSE) / 5)


def test_some_ratings_can_be_kept():
    kept = Ratings.from_frame(FRAME).keep(np.array([False, True, True]))
    assert kept.matrix.toarray().tolist() == [[0.0, 2.0], [1.0, 0.0]]
    assert kept.items == ("waltz", "tango")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"rating": [4, -1, 2]}, "user 'bob', item 'waltz': the rating is -1"),
        ({"rating": [4, np.nan, 2]}, "the rating is nan"),
        ({"rating": [4, np.inf, 2]}, "the rating is inf"),
        ({"rating": [4, "good", 2]}, "column 'rating' holds something that is not a number"),
        ({"user": ["ann", "ann", "ann"], "item": ["waltz", "tango", "waltz"]}, "user 'ann' rates item 'waltz' twice"),
        ({"user": ["ann", None, "bob"]}, "column 'user' holds missing ids"),
        ({"user": [1.0, 2.5, 3.0]}, "column 'user' holds ids that are missing or fractions"),
        ({"rating": [1, 2]}, "the columns have 3, 3, 2 entries"),
    ],
)
def test_bad_ratings_are_one_line(change, told):
    with pytest.raises(InputError) as error:
        Ratings.from_frame({**FRAME, **change})
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_other_mistakes_are_one_line():
    ratings = Ratings.from_frame(FRAME)
    with pytest.raises(InputError, match="no column 'stars': it has user, item, rating"):
        Ratings.from_frame(FRAME, rating="stars")
    with pytest.raises(InputError, match="no column 'stars': it has user, item, rating"):
        Ratings.from_frame(pa.table(FRAME), rating="stars")
    with pytest.raises(InputError, match="no column 'stars': it has user, item, rating"):
        Ratings.from_frame(Columns(Index(FRAME)), rating="stars")
    with pytest.raises(InputError, match="no column 'user': it has none"):
        Ratings.from_frame({})
    for wrong in (None, 5, [("ann", "waltz", 4)]):
        with pytest.raises(InputError, match=f"no column 'user' in '{type(wrong).__name__}': give a table"):
            Ratings.from_frame(wrong)
    with pytest.raises(UnknownUserError, match="no user 'zoe' among the 2 users"):
        ratings.row("zoe")
    with pytest.raises(InputError, match="none of the 1 users"):
        ratings.for_users(["zoe"])
    with pytest.raises(InputError, match="above 5 stars"):
        Ratings.from_frame({**FRAME, "rating": [6, 1, 1]}).normalised("stars")
    with pytest.raises(InputError, match="normalisation 'z' is unknown"):
        ratings.normalised("z")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="3 user ids for 2 users"):
        Ratings.from_csr(csr_array(DENSE), users=["a", "b", "c"])
    with pytest.raises(InputError, match="1 item ids occur more than once"):
        Ratings.from_csr(csr_array(DENSE), items=["a", "a"])
