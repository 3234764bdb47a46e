from __future__ import annotations

import pytest
from sqlalchemy import select

from privact.aggregator.domain.access.tokens import sha256
from privact.aggregator.domain.enrolment import check_user_id, count_users, enrol, find_users, list_users, remove, replace_token
from privact.aggregator.storage.database import Store
from privact.aggregator.storage.schema import users
from privact.errors import InputError, UnknownUserError
from privact.protocol.users import user_digest


@pytest.fixture
def store(database_url):
    store = Store.open(database_url)
    yield store
    store.close()


def listed(store, after=0, limit=100):
    with store.read() as connection:
        return [row[:3] for row in list_users(connection, after, limit)]


def kept_token(store, user):
    with store.read() as connection:
        found = find_users(connection, [user_digest(user)]).get(user_digest(user))
    return found and found.token_sha256


def test_each_new_user_gets_a_token_of_which_only_the_hash_is_kept(store):
    enrolled = enrol(store, ["@Ada@A.example", "bob"], 5)
    assert set(enrolled.tokens) == {"ada@a.example", "bob"}
    assert enrolled.existing == []
    for user, token in enrolled.tokens.items():
        assert token.startswith(user_digest(user).hex() + ".")
        assert kept_token(store, user) == sha256(token.encode())
    assert listed(store) == [("ada@a.example", 5, 1), ("bob", 5, 2)]


def test_who_is_enrolled_keeps_the_token_and_spellings_of_one_id_are_one_user(store):
    first = enrol(store, ["ada"], 5).tokens["ada"]
    again = enrol(store, ["ADA", "Bob", "bob ", "@bob"], 6)
    assert set(again.tokens) == {"bob"}
    assert sorted(again.existing) == ["ada", "bob", "bob"]
    assert kept_token(store, "ada") == sha256(first.encode())


def test_a_new_token_replaces_the_old_one(store):
    first = enrol(store, ["ada"], 5).tokens["ada"]
    user, digest, second = replace_token(store, "Ada")
    assert (user, digest) == ("ada", user_digest("ada"))
    assert first != second
    assert kept_token(store, "ada") == sha256(second.encode())


def test_who_is_removed_is_not_found_but_keeps_a_row(store):
    enrol(store, ["ada", "bob"], 5)
    assert remove(store, "ADA", 7) == user_digest("ada")
    assert kept_token(store, "ada") is None
    assert [user for user, _, _ in listed(store)] == ["bob"]
    with store.read() as connection:
        assert count_users(connection) == 1
        assert connection.execute(select(users.c.removed).where(users.c.id == "ada")).scalar_one() == 7


def test_who_comes_back_is_a_new_user(store):
    first = enrol(store, ["ada", "bob"], 5).tokens["ada"]
    remove(store, "ada", 6)
    again = enrol(store, ["ada"], 8)
    assert again.existing == []
    assert kept_token(store, "ada") == sha256(again.tokens["ada"].encode()) != sha256(first.encode())
    assert listed(store) == [("bob", 5, 2), ("ada", 8, 3)]


def test_who_is_not_enrolled_cannot_be_changed(store):
    enrol(store, ["gone"], 1)
    remove(store, "gone", 2)
    for user in ("eve", "gone"):
        with pytest.raises(UnknownUserError, match=f"no user '{user}' is enrolled"):
            remove(store, user, 3)
        with pytest.raises(UnknownUserError, match=f"no user '{user}' is enrolled"):
            replace_token(store, user)


def test_one_bad_id_and_nobody_is_enrolled(store):
    with pytest.raises(InputError):
        enrol(store, ["ada", "  "], 1)
    assert listed(store) == []


def test_pages_follow_the_order_of_enrolment(store):
    enrol(store, [f"user{number}" for number in range(25)], 1)
    pages, after = [], 0
    while page := listed(store, after, 10):
        pages.append([user for user, _, _ in page])
        after = page[-1][2]
    assert [len(page) for page in pages] == [10, 10, 5]
    assert [user for page in pages for user in page] == [f"user{number}" for number in range(25)]


def test_many_users_fit_one_statement_of_the_database(store):
    everyone = [f"user{number}" for number in range(10_000)]
    assert len(enrol(store, everyone, 1).tokens) == 10_000
    assert enrol(store, everyone, 2).existing == everyone


@pytest.mark.parametrize("user", ["", " @ ", "a\x00b", "a\tb", "a\nb", "a\u202eb", "x" * 321, "\ud800"])
def test_an_id_that_cannot_be_kept_or_shown_is_refused(user):
    with pytest.raises(InputError) as refused:
        check_user_id(user)
    assert str(refused.value).isprintable()


def test_odd_ids_are_kept_as_they_are_normalised(store):
    odd = ["ada@a.example", "Ådá", "用户", "+49 170 1234567", "x" * 320, "a'b\"c\\d%_"]
    enrol(store, odd, 1)
    assert [user for user, _, _ in listed(store)] == [check_user_id(user) for user in odd]
