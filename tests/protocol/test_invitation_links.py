"""Links of invitations: what is written is read again, and half a link is refused."""

from __future__ import annotations

import pytest

from privact.errors import InputError
from privact.protocol.addresses import aggregator_address
from privact.protocol.invitation_links import (
    invitation_link,
    is_invitation_code,
    new_invitation_code,
    new_token_for,
    read_invitation,
)
from privact.protocol.users import user_digest

ADDRESS = aggregator_address("https://clusters.example/deep")
CODE = new_invitation_code(user_digest("ada"))


@pytest.mark.parametrize("page", [None, "https://pages.example/privact/", "https://pages.example/index.html"])
def test_a_link_is_read_as_it_was_written(page):
    link = invitation_link(ADDRESS, CODE, page)
    assert link.startswith("https://clusters.example/deep/join#" if page is None else page)
    assert read_invitation(f" {link}\n") == (ADDRESS, CODE)


def test_a_token_may_stand_in_the_place_of_a_code():
    token = new_token_for(CODE)
    assert token.startswith(user_digest("ada").hex() + ".")
    assert read_invitation(f"https://clusters.example/join/#{token}").secret == token
    assert not is_invitation_code(token)


def test_no_two_codes_or_tokens_are_alike():
    assert new_invitation_code(user_digest("ada")) != CODE
    assert new_token_for(CODE) != new_token_for(CODE)


@pytest.mark.parametrize(
    ("link", "problem"),
    [
        ("https://clusters.example/join", "not complete"),
        (f"https://clusters.example/join#{CODE[:-1]}", "not complete"),
        (f"#{CODE}", "does not say where"),
        (f"https://clusters.example/other#{CODE}", "does not say where"),
        (f"http://clusters.example/join#{CODE}", "plain http"),
    ],
    ids=["no code", "a letter short", "no address", "another page", "plain http"],
)
def test_half_a_link_is_refused(link, problem):
    with pytest.raises(InputError, match=problem):
        read_invitation(link)


def test_a_page_is_an_address():
    with pytest.raises(InputError, match="not the address of a page"):
        invitation_link(ADDRESS, CODE, "pages.example")
