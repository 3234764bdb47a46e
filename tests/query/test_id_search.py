"""Searching ids block by block finds what a plain search finds."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from privact.query import id_search
from privact.query.id_search import IdSearch, find_ids
from privact.tree.user_ids import UserIds

IDS = [f"User{number:07d}@server{number % 37}.example" for number in np.random.default_rng(3).integers(0, 10**7, 4000).tolist()]


@pytest.fixture(params=[False, True], ids=["plain", "blocks"])
def search(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> IdSearch:
    if request.param:
        monkeypatch.setattr(id_search, "_SMALL", 0)
    made = IdSearch(UserIds.of(dict.fromkeys(IDS)).packed)
    assert (made._matrix is not None) == request.param
    return made


@pytest.mark.parametrize(
    "text",
    ["user00", "7", "77", "@server3.", "server36.example", "USER", "zz", "example", "e@", "nothing", IDS[1234], "@"],
)
@pytest.mark.parametrize("at_start", [False, True])
def test_every_id_that_a_plain_search_finds_is_found_in_order(search: IdSearch, text: str, at_start: bool) -> None:
    wanted = text.lower()
    known = [user for user in dict.fromkeys(IDS) if (user.lower().startswith(wanted) if at_start else wanted in user.lower())]
    assert list(search.find(text.encode(), at_start=at_start)) == known


def test_a_search_stops_when_enough_is_found_and_is_prepared_once() -> None:
    users = UserIds.of(dict.fromkeys(IDS))
    assert len(list(islice(find_ids(users, b"example"), 5))) == 5
    prepared = id_search._searches[users]
    list(find_ids(users, b"zz"))
    assert id_search._searches[users] is prepared


def test_blocks_end_between_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(id_search, "_SMALL", 0)
    packed = UserIds.of(dict.fromkeys(IDS)).packed
    made = IdSearch(packed)
    assert len(made._begins) > 20
    assert {packed[begin] for begin in made._begins.tolist()} == {0xFF}
