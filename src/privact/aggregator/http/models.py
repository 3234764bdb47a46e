"""The JSON of requests and responses, with the examples that the OpenAPI description shows."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from privact import __version__
from privact.aggregator.domain.enrolment import MOST_AT_ONCE
from privact.learn.evidence.profiles import LABEL_PROFILES, PROFILES
from privact.protocol.round import LAST_SECOND, MAX_BINS, MIN_EPSILON, Round
from privact.protocol.round_ids import ROUND_ID

__all__ = [
    "CommunityResponse",
    "CutResponse",
    "ErrorResponse",
    "ExploreResponse",
    "Me",
    "NearestResponse",
    "NewUsers",
    "OneUser",
    "PathResponse",
    "RatingsResponse",
    "RecommendResponse",
    "ReportResponse",
    "RoundList",
    "RoundResponse",
    "RoundWish",
    "Service",
    "Status",
    "SummaryResponse",
    "Token",
    "Tokens",
    "UserList",
]

State = Literal["draft", "open", "closed", "learning", "released", "failed"]

_TOKEN: Final = "b7e0c5d1f0b94d1c8f6ab2c77f4b9a35.Zr0m6Q3mXw0d3b1nq8m2oZ5yN0c4u7T9aF1kE2hJ3Lw"
_ADA: Final = {"user": "ada@a.example", "joined_late": False}
_BOB: Final = {"user": "bob@b.example", "joined_late": True}
_ROUND: Final[dict[str, Any]] = {
    "id": "spring", "state": "open", "epsilon": 1.0, "epsilon_report": 0.5, "n_bins": 7, "bins": "random", "n_users": 1843,
    "opens": 1767225600, "closes": 1769904000, "joiner_seconds": 604800, "digest": "5d" * 32,
    "privacy": "Per edge: in round spring, whether any one contact exists changes ...", "reports": 912, "joiners": 0,
    "progress": None, "failure": None, "opened_at": 1767225600, "closed_at": None, "released_at": None, "created_at": 1767225000,
}  # fmt: skip


def _example(**content: Any) -> ConfigDict:
    return ConfigDict(json_schema_extra={"example": content})


class ErrorResponse(BaseModel):
    """What every refusal looks like."""

    error: str = Field(description="What is wrong and what to do, in one line.")


class _Request(BaseModel):
    """A JSON body; unknown fields and numbers written as text are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class NewUsers(_Request):
    """Users to enrol."""

    users: list[str] = Field(
        min_length=1, max_length=MOST_AT_ONCE, description="Ids in any spelling.", examples=[["ada@a.example", "bob@b.example"]]
    )


class OneUser(_Request):
    """A user."""

    user: str = Field(min_length=1, description="An id in any spelling.", examples=["ada@a.example"])


class RoundWish(_Request):
    """A round that the operator would like."""

    id: str = Field(pattern=f"^{ROUND_ID}$", description="Its name.", examples=["spring"])
    epsilon: float = Field(
        ge=MIN_EPSILON, le=1e6, allow_inf_nan=False, description="The privacy promise per contact.", examples=[1.0]
    )
    n_bins: int | None = Field(None, ge=1, le=MAX_BINS, description="Number of bins; null: floor(ln users), or one per label.")
    bins: Literal["random", "labels"] = Field("random", description="Random bins, or public labels that are uploaded.")
    opens: int | None = Field(None, ge=0, le=LAST_SECOND, description="First second for reports; null: when it is opened.")
    closes: int | None = Field(None, ge=1, le=LAST_SECOND, description="First second without; null: when it is closed by hand.")
    joiner_seconds: int = Field(0, ge=0, le=LAST_SECOND, description="How long after closes later users may still report.")
    search_seed: int = Field(0, ge=0, le=2**63 - 1, description="Seed of the tree search; same reports and seed, same tree.")
    profile: str = Field(
        "counts",
        json_schema_extra={"enum": list(PROFILES)},
        description="Compare users by counts per bin, by shares, or by shares and their own labels.",
    )

    @model_validator(mode="after")
    def _know_profile(self) -> RoundWish:
        if self.profile not in PROFILES:
            raise ValueError(f"profile {self.profile!r} is unknown: use one of {', '.join(PROFILES)}")
        if self.profile in LABEL_PROFILES and self.bins != "labels":
            raise ValueError(f"profile {self.profile!r} needs bins 'labels': random bins say nothing about a user")
        return self


class Progress(BaseModel):
    """How far learning is."""

    stage: str = Field(description="What is being done.")
    done: int = Field(description="How much of it.")
    total: int = Field(description="Of how much.")


class RoundResponse(BaseModel):
    """A round as everybody may know it."""

    model_config = _example(**_ROUND)

    id: str
    state: State
    epsilon: float = Field(description="The privacy promise per contact.")
    epsilon_report: float = Field(description="Epsilon of each report: half of epsilon, since both ends report a contact.")
    n_bins: int | None = Field(description="Null for a draft that leaves it open.")
    bins: Literal["random", "labels"]
    n_users: int | None = Field(description="Users enrolled at the opening; null for a draft.")
    opens: int | None = Field(description="First second for reports, UTC seconds.")
    closes: int | None = Field(description="First second without; null: until it is closed by hand.")
    joiner_seconds: int = Field(description="How long after closes later users may still report.")
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

    model_config = _example(rounds=[_ROUND])

    rounds: list[RoundResponse]


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

    model_config = _example(
        user="ada@a.example",
        enrolled_at=1767225600,
        rounds=[
            {
                "id": "spring",
                "state": "open",
                "digest": "5d" * 32,
                "may_answer": True,
                "answered_at": None,
                "late": False,
            }
        ],
    )

    user: str
    enrolled_at: int
    rounds: list[RoundOfUser]


class ReportResponse(BaseModel):
    """What became of a report."""

    model_config = _example(round="spring", status="accepted", late=False)

    round: str
    status: Literal["accepted", "already accepted"]
    late: bool


class Tokens(BaseModel):
    """What an enrolment gave. The tokens are shown this once."""

    model_config = _example(tokens={"ada@a.example": _TOKEN}, existing=["bob@b.example"])

    tokens: dict[str, str] = Field(description="Token by normalised user id.")
    existing: list[str] = Field(description="Ids that were enrolled already or named twice.")


class Token(BaseModel):
    """A new token, shown this once."""

    model_config = _example(user="ada@a.example", token=_TOKEN)

    user: str
    token: str


class ListedUser(BaseModel):
    """A user as the operator sees them."""

    user: str
    enrolled_at: int


class UserList(BaseModel):
    """Some of the users, in the order of enrolment."""

    model_config = _example(users=[{"user": "ada@a.example", "enrolled_at": 1767225600}], total=1, next=None)

    users: list[ListedUser]
    total: int = Field(description="How many are enrolled.")
    next: int | None = Field(description="What to pass as `after` to go on; null at the end.")


class TreeUser(BaseModel):
    """A user of the tree."""

    user: str = Field(description="Id of the user, normalised.")
    joined_late: bool = Field(description="Whether the user was placed after the release, without learning the tree again.")


class NearUser(TreeUser):
    """A user near another."""

    community_size: int = Field(description="Users in the smallest cluster that holds both.")


class NearestResponse(TreeUser):
    """Users near a user, nearest communities first; of equally near ones those in larger clusters first."""

    model_config = _example(**_ADA, nearest=[_BOB | {"community_size": 2}], tied=1)

    nearest: list[NearUser]
    tied: int = Field(description="Users as near as the last one listed, that one and those not listed included.")


class CommunityResponse(TreeUser):
    """The cluster of about the asked size around a user, never of more than twice as many."""

    model_config = _example(**_ADA, asked_size=2, size=3, alike=1, offset=0, users=[_ADA, _BOB])

    asked_size: int
    size: int = Field(description="Users that the cluster holds.")
    alike: int = Field(
        description="Users whom the tree cannot tell apart from this user, the user included; if more than `size`, which of them "
        "are in the cluster is arbitrary."
    )
    offset: int = Field(description="Users left out before the first that is named.")
    users: list[TreeUser] = Field(description="Users of the cluster in the tree's own order, at most `limit`.")


class PathResponse(TreeUser):
    """The clusters that hold a user, from the user alone to everybody."""

    model_config = _example(**_ADA, clusters=4, sizes=[1, 2, 3, 120])

    clusters: int = Field(description="How many clusters hold the user.")
    sizes: list[int] = Field(description="Users in each of them, the smallest first, at most `limit`.")


class CutCluster(BaseModel):
    """A cluster of a cut."""

    cluster: int = Field(description="Number of the cluster in the tree's own order.")
    size: int = Field(description="Users that it holds.")
    users: list[TreeUser] = Field(description="Some of its users.")


class CutResponse(BaseModel):
    """The tree cut into clusters, by always splitting the one with the largest split at or below it."""

    model_config = _example(
        users=120,
        clusters=[{"cluster": 0, "size": 70, "users": [_ADA]}, {"cluster": 1, "size": 50, "users": [_BOB]}],
    )

    users: int = Field(description="Users of the tree.")
    clusters: list[CutCluster]


class Depth(BaseModel):
    """How many clusters are above users."""

    mean: float
    largest: int


class SummaryResponse(BaseModel):
    """A released tree as a whole."""

    model_config = _example(
        round="spring",
        users=121,
        joined_late=1,
        depth={"mean": 9.5, "largest": 17},
        sha256="00" * 32,
        released_at=1767229200,
        parameters={"round": "spring", "epsilon": 1.0, "epsilon_report": 0.5, "n_bins": 4, "bins": "random"},
        privacy="Per edge: in round spring, whether any one contact exists changes the probability of anything ...",
        formats=["hct", "newick", "json", "linkage"],
    )

    round: str
    users: int = Field(description="Users of the tree, with those who joined late.")
    joined_late: int = Field(description="Users who were placed after the release.")
    depth: Depth
    sha256: str = Field(description="Of the released file, which holds nobody who joined late.")
    released_at: int = Field(description="UTC seconds since 1970.")
    parameters: dict[str, Any] = Field(description="The public parameters in the released file.")
    privacy: str = Field(description="What the round promises, in plain English.")
    formats: list[str] = Field(description="What can be downloaded.")


class ExploreResponse(BaseModel):
    """What the explorer draws; the fields depend on the route."""

    model_config = ConfigDict(extra="allow")

    joined_late: list[str] = Field(description="Which of the users named here joined late.")


class RatingsResponse(BaseModel):
    """What was uploaded."""

    model_config = _example(users=100, items=500, ratings=2000)

    users: int
    items: int
    ratings: int


class RecommendedItem(BaseModel):
    """An item for the user."""

    rank: int = Field(description="1 for the best.")
    item: str
    reason: str = Field(description="Why it is listed, in words without numbers.")


class RecommendResponse(BaseModel):
    """Items for the token's user, best first."""

    model_config = _example(
        user="ada@a.example",
        items=[{"rank": 1, "item": "waltz", "reason": "several in your close community rated this"}],
    )

    user: str
    items: list[RecommendedItem]


class Status(BaseModel):
    """All is well."""

    model_config = _example(status="ok")

    status: Literal["ok"]


class Service(BaseModel):
    """What this server is."""

    model_config = _example(
        name="privact",
        version=__version__,
        protocol_version=Round.version,
        minimum_users=100,
        accepts={"report": "application/octet-stream", "labels": "text/csv"},
    )

    name: Literal["privact"]
    version: str
    protocol_version: int = Field(description="Version of round parameters and reports.")
    minimum_users: int = Field(description="Fewest users of a round.")
    accepts: dict[str, str] = Field(description="Media type of each kind of upload.")
