"""Invitations over HTTP: each works once, for one token, and can be revoked and renewed."""

from __future__ import annotations

import hashlib

import pytest

from privact.protocol.invitation_links import new_invitation_code, new_token_for
from privact.protocol.users import user_digest


def invited(service, user="ada"):
    """The code of a new user's invitation, and the token that was made beside it."""
    enrolled = service.operate("POST", "/v1/users", json={"users": [user], "invite": True})
    return enrolled["invitations"][user], enrolled["tokens"][user]


def join(service, code, token):
    return service.ask("POST", "/v1/join", code, json={"token_sha256": hashlib.sha256(token.encode()).hexdigest()})


def test_an_invitation_is_exchanged_for_the_token_that_the_device_has_drawn(service):
    code, handed = invited(service)
    assert service.ask("GET", "/v1/me", handed).status_code == 200
    mine = new_token_for(code)
    assert join(service, code, mine).json() == {"user": "ada"}
    assert service.ask("GET", "/v1/me", mine).json()["user"] == "ada"
    assert service.ask("GET", "/v1/me", handed).status_code == 401  # the token beside it is worthless now


def test_a_used_link_is_worthless_and_the_same_request_again_is_not_refused(service):
    code, _ = invited(service)
    mine = new_token_for(code)
    assert [join(service, code, mine).status_code for _ in range(3)] == [200, 200, 200]  # as after a lost connection
    other = join(service, code, new_token_for(code))
    assert (other.status_code, other.json()["error"].split(":")[0]) == (409, "this invitation was used before")
    assert service.ask("GET", "/v1/me", mine).status_code == 200


def test_a_renewed_invitation_replaces_the_one_before(service):
    code, _ = invited(service)
    mine = new_token_for(code)
    join(service, code, mine)
    renewed = service.operate("POST", "/v1/users/invite", json={"users": ["Ada"]})["invitations"]["ada"]
    assert join(service, code, mine).status_code == 401
    assert service.ask("GET", "/v1/me", mine).status_code == 200  # until the new one is used
    assert join(service, renewed, new_token_for(renewed)).status_code == 200
    assert service.ask("GET", "/v1/me", mine).status_code == 401


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v1/users/revoke", {"user": "@Ada"}),
        ("POST", "/v1/users/revoke-all", None),
        ("POST", "/v1/users/token", {"user": "ada"}),
        ("DELETE", "/v1/users/ada", None),
        ("DELETE", "/v1/users/ada?erase=true", None),
    ],
)
def test_an_invitation_that_was_revoked_is_worthless(service, method, path, body):
    code, token = invited(service)
    service.operate(method, path, **({} if body is None else {"json": body}))
    assert join(service, code, new_token_for(code)).status_code == 401
    assert service.ask("GET", "/v1/me", token).status_code == 401


def test_codes_that_nobody_made_are_refused_alike(service):
    code, _ = invited(service)
    guesses = [new_invitation_code(user_digest(user)) for user in ("ada", "nobody")]
    refused = [join(service, guess, new_token_for(code)) for guess in [*guesses, "invite-", "x"]]
    assert {answer.status_code for answer in refused} == {401}
    assert len({answer.content for answer in refused}) == 1
    assert service.ask("POST", "/v1/join", code, json={"token_sha256": "5D" * 32}).status_code == 400


def test_the_list_of_users_says_who_has_joined(service):
    code, _ = invited(service)
    service.enrol("bob")
    states = lambda: [user["invitation"] for user in service.operate("GET", "/v1/users")["users"]]  # noqa: E731
    assert states() == ["waiting", None]
    join(service, code, new_token_for(code))
    assert states() == ["used", None]


def test_only_enrolled_users_are_invited_and_only_by_operators(service, operator_token):
    assert service.ask("POST", "/v1/users/invite", operator_token, json={"users": ["nobody"]}).status_code == 404
    for path in ("/v1/users/invite", "/v1/users/revoke", "/v1/users/invitation-picture"):
        assert service.ask("POST", path, json={}).status_code == 401


def test_a_link_is_drawn_as_a_code_for_phones(service, operator_token):
    answer = service.ask("POST", "/v1/users/invitation-picture", operator_token, json={"link": "https://a.example/join#invite-x"})
    assert answer.headers["content-type"] == "image/svg+xml"
    assert answer.text.startswith("<svg xmlns=")


def test_pages_of_other_sites_may_join(service):
    page = {"Origin": "https://pages.example"}
    asked = service.ask("OPTIONS", "/v1/join", headers=page)
    assert asked.headers["access-control-allow-methods"] == "POST"
    assert "access-control-allow-origin" not in service.ask("OPTIONS", "/v1/users/invite", headers=page).headers
