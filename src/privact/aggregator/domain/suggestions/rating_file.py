"""The ratings of the operator, one file of the data folder: found, read, and written again without an erased user."""

from __future__ import annotations

import csv
import io
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from privact.errors import InputError
from privact.protocol.users import normalise_user_id
from privact.storage import write_whole

if TYPE_CHECKING:
    from privact.recommend.data.ratings import Ratings

__all__ = ["erase_ratings", "find_rating_file", "list_rating_files", "read_rating_file"]


def list_rating_files(folder: Path) -> list[Path]:
    """The files of which at most one is there: ratings as they were uploaded."""
    return [folder / "ratings.csv", folder / "ratings.parquet"]


def find_rating_file(folder: Path) -> Path | None:
    """The file of the ratings in their folder; None if nothing was uploaded."""
    return next((path for path in list_rating_files(folder) if path.exists()), None)


def read_rating_file(path: Path) -> Ratings:
    """Ratings in a file, with user ids as rounds spell them."""
    from privact.recommend.data.ratings import Ratings
    from privact.recommend.data.read_ratings import read_ratings

    found = read_ratings(path)
    users = [normalise_user_id(user) for user in found.users]
    user, times = Counter(users).most_common(1)[0]
    if times > 1:
        raise InputError(f"user {user!r} is in the ratings under two spellings: use one")
    return Ratings.from_csr(found.matrix, users, found.items)


def erase_ratings(folder: Path, user: str) -> bool:
    """Write the ratings again without those of a user, as CSV; False if there are none, and nothing changes.

    folder: of the ratings. user: the normalised id.
    """
    path = find_rating_file(folder)
    if path is None:
        return False
    ratings = read_rating_file(path)
    if user not in ratings.users:
        return False
    text = io.StringIO(newline="")
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(("user", "item", "rating"))
    matrix = ratings.matrix
    for row, name in enumerate(ratings.users):
        if name != user:
            rated = slice(matrix.indptr[row], matrix.indptr[row + 1])
            entries = zip(matrix.indices[rated].tolist(), matrix.data[rated].tolist(), strict=True)
            lines.writerows((name, ratings.items[item], f"{value:.17g}") for item, value in entries)
    if len(ratings.users) > 1:
        with write_whole(folder / "ratings.csv") as file:
            file.write(text.getvalue().encode())
    if len(ratings.users) == 1 or path.name != "ratings.csv":
        path.unlink()
    return True
