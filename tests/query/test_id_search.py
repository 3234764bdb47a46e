"""The compiled search of ids finds what a plain search finds."""

from __future__ import annotations

import numpy as np
import pytest

from privact.query import id_search
from privact.query.id_search import IdSearch, find_ids
from privact.tree.user_ids import UserIds

IDS = [f"User{number:07d}@server{number % 37}.example" for number in np.random.default_rng(3).integers(0, 10**7, 4000).tolist()]


@pytest.fixture(params=[False, True], ids=["plain", "compiled"])
def search(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> IdSearch:
    if request.param:
        monkeypatch.setattr(id_search, "_SMALL", 0)
    return IdSearch(UserIds.of(dict.fromkeys(IDS)).packed)


@pytest.mark.parametrize(
    "text",
    ["user00", "7", "77", "@server3.", "server36.example", "USER", "zz", "example", "e@", "nothing", IDS[1234], "@"],
)
@pytest.mark.parametrize("at_start", [False, True])
@pytest.mark.parametrize("limit", [3, 10_000])
def test_every_id_that_a_plain_search_finds_is_found_in_order(search: IdSearch, text: str, at_start: bool, limit: int) -> None:
    wanted = text.lower()
    known = [user for user in dict.fromkeys(IDS) if (user.lower().startswith(wanted) if at_start else wanted in user.lower())]
    assert search.find(text.encode(), limit, at_start=at_start) == known[:limit]


def test_an_id_that_holds_the_text_twice_is_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    ids = [f"anna{number}@anna.example" for number in range(100)]
    for small in (0, 1 << 21):
        monkeypatch.setattr(id_search, "_SMALL", small)
        assert IdSearch(UserIds.of(ids).packed).find(b"anna", 30) == ids[:30]


def test_a_search_is_prepared_once() -> None:
    users = UserIds.of(dict.fromkeys(IDS))
    assert len(find_ids(users, b"example", 5)) == 5
    prepared = id_search._searches[users]
    find_ids(users, b"zz", 5)
    assert id_search._searches[users] is prepared
