"""The JSON of operators and of what they did."""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel, Field

from privact.aggregator.http.models import JsonRequest, make_example
from privact.protocol.round import LAST_SECOND

__all__ = ["ActionList", "ErasedUser", "NewOperator", "OperatorList", "OperatorToken"]

_NIGHT: Final = {"name": "night-shift", "scopes": ["read", "rounds"], "created_at": 1767225600, "expires_at": None}
_ACTION: Final[dict[str, Any]] = {
    "id": 7, "at": 1767225600, "operator": "night-shift", "action": "POST /v1/rounds/{round_id}/open", "subject": "spring",
    "status": 200,
}  # fmt: skip


class NewOperator(JsonRequest):
    """An operator to add."""

    name: str = Field(min_length=1, max_length=64, description="A new name.", examples=["night-shift"])
    scopes: list[str] = Field(min_length=1, max_length=4, description="Some of read, rounds, users, operators.")
    expires_at: int | None = Field(None, ge=0, le=LAST_SECOND, description="First second without it; null: never.")


class OperatorToken(BaseModel):
    """A new operator's token, shown this once."""

    model_config = make_example(name="night-shift", token="operator." + "x" * 43)

    name: str
    token: str


class ListedOperator(BaseModel):
    """An operator."""

    name: str
    scopes: list[str]
    created_at: int
    expires_at: int | None


class OperatorList(BaseModel):
    """Who operates."""

    model_config = make_example(operators=[_NIGHT])

    operators: list[ListedOperator]


class Action(BaseModel):
    """What an operator did."""

    id: int
    at: int = Field(description="UTC seconds.")
    operator: str
    action: str = Field(description="Method and route.")
    subject: str = Field(description="What it was about.")
    status: int = Field(description="HTTP status of the response.")


class ActionList(BaseModel):
    """What operators did, newest first."""

    model_config = make_example(actions=[_ACTION], next=None)

    actions: list[Action]
    next: int | None = Field(description="What to pass as `before` to go on; null at the end.")


class ErasedUser(BaseModel):
    """A user of whom something is left until rounds have ended."""

    model_config = make_example(user="ada@a.example", waits_for=["spring"])

    user: str = Field(description="The normalised id.")
    waits_for: list[str] = Field(
        description="Rounds that fix a label until they take no more reports, or are being learned; it then goes by itself."
    )
