"""The shapes of requests and answers."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from privact.aggregator.domain.enrolment import MOST_AT_ONCE
from privact.protocol.round import LAST_SECOND, MAX_BINS, MIN_EPSILON
from privact.protocol.round_ids import ROUND_ID

__all__ = [
    "Me",
    "NewUsers",
    "OneUser",
    "Progress",
    "ReportAnswer",
    "RoundAnswer",
    "RoundList",
    "RoundOfUser",
    "RoundWish",
    "Token",
    "Tokens",
    "UserAnswer",
    "UserList",
    "body",
]

State = Literal["draft", "open", "closed", "learning", "released", "failed"]


class _Posted(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class NewUsers(_Posted):
    """Users to enrol."""

    users: list[str] = Field(
        min_length=1, max_length=MOST_AT_ONCE, description="Ids in any spelling.", examples=[["ada@a.example", "bob@b.example"]]
    )


class OneUser(_Posted):
    """A user."""

    user: str = Field(min_length=1, description="An id in any spelling.", examples=["ada@a.example"])


class RoundWish(_Posted):
    """A round that the operator would like."""

    id: str = Field(pattern=f"^{ROUND_ID}$", description="Its name.", examples=["spring"])
    epsilon: float = Field(
        ge=MIN_EPSILON, le=1e6, allow_inf_nan=False, description="The privacy promise per contact.", examples=[1.0]
    )
    n_bins: int | None = Field(None, ge=1, le=MAX_BINS, description="Number of bins; null: floor(ln users), or one per label.")
    bins: Literal["random", "labels"] = Field("random", description="Random bins, or public labels that are uploaded.")
    opens: int | None = Field(None, ge=0, le=LAST_SECOND, description="First second for reports; null: when it is opened.")
    closes: int | None = Field(None, ge=1, le=LAST_SECOND, description="First second without; null: when it is closed by hand.")
    joiner_seconds: int = Field(0, ge=0, le=LAST_SECOND, description="How long after closes later users may still answer.")
    search_seed: int = Field(0, ge=0, le=2**63 - 1, description="Seed of the tree search; same reports and seed, same tree.")
    profile: Literal["counts", "shares"] = Field("counts", description="Compare users by counts per bin, or by shares.")


class Progress(BaseModel):
    """How far learning is."""

    stage: str = Field(description="What is being done.")
    done: int = Field(description="How much of it.")
    total: int = Field(description="Of how much.")


class RoundAnswer(BaseModel):
    """A round as everybody may know it."""

    id: str
    state: State
    epsilon: float = Field(description="The privacy promise per contact.")
    epsilon_report: float = Field(description="Epsilon of each report: half of epsilon, since both ends report a contact.")
    n_bins: int | None = Field(description="Null for a draft that leaves it open.")
    bins: Literal["random", "labels"]
    n_users: int | None = Field(description="Users enrolled at the opening; null for a draft.")
    opens: int | None = Field(description="First second for reports, UTC seconds.")
    closes: int | None = Field(description="First second without; null: until it is closed by hand.")
    joiner_seconds: int = Field(description="How long after closes later users may still answer.")
    digest: str | None = Field(description="Digest of the parameters in hexadecimal; null for a draft.")
    privacy: str | None = Field(description="What the round promises, in words; null for a draft.")
    reports: int = Field(description="Reports that came in time.")
    joiners: int = Field(description="Reports of late joiners.")
    progress: Progress | None = Field(description="Only while the tree is being learned.")
    failure: str | None = Field(description="Only in state failed.")
    opened_at: int | None
    closed_at: int | None
    released_at: int | None
    created_at: int


class RoundList(BaseModel):
    """Rounds, newest first."""

    rounds: list[RoundAnswer]


class RoundOfUser(BaseModel):
    """A round from one user's point of view."""

    id: str
    state: State
    digest: str
    may_answer: bool = Field(description="Whether the round takes a report of this user now.")
    answered_at: int | None = Field(description="When this user's report was accepted.")
    late: bool = Field(description="Whether this user was enrolled after the round was opened.")


class Me(BaseModel):
    """A user and the rounds."""

    user: str
    enrolled_at: int
    rounds: list[RoundOfUser]


class ReportAnswer(BaseModel):
    """What became of a report."""

    round: str
    status: Literal["accepted", "already accepted"]
    late: bool


class Tokens(BaseModel):
    """What an enrolment gave. The tokens are shown this once."""

    tokens: dict[str, str] = Field(description="Token by normalised user id.")
    existing: list[str] = Field(description="Ids that were enrolled already or named twice.")


class Token(BaseModel):
    """A new token, shown this once."""

    user: str
    token: str


class UserAnswer(BaseModel):
    """A user as the operator sees them."""

    user: str
    enrolled_at: int


class UserList(BaseModel):
    """Some of the users, in the order of enrolment."""

    users: list[UserAnswer]
    total: int = Field(description="How many are enrolled.")
    next: int | None = Field(description="What to pass as `after` to go on; null at the end.")


def body(model: type[BaseModel], example: dict[str, Any]) -> dict[str, Any]:
    """The description of a JSON body that the route reads itself, after it knows who asks.

    model: what the body must be.
    example: a body.
    """
    schema = model.model_json_schema()
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema, "example": example}}}}
