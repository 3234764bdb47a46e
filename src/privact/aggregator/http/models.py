"""The JSON of requests and responses, with the examples that the OpenAPI description shows; those of trees are in tree_models."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from privact import __version__
from privact.aggregator.domain.enrolment import MOST_AT_ONCE
from privact.learn.evidence.profiles import LABEL_PROFILES, ONE_ROUND_PROFILES
from privact.protocol.round import LAST_SECOND, MAX_BINS, MIN_EPSILON, Round
from privact.protocol.round_ids import ROUND_ID

State = Literal["draft", "open", "closed", "learning", "released", "failed"]

_TOKEN: Final = "b7e0c5d1f0b94d1c8f6ab2c77f4b9a35.Zr0m6Q3mXw0d3b1nq8m2oZ5yN0c4u7T9aF1kE2hJ3Lw"
_CODE: Final = "invite-b7e0c5d1f0b94d1c8f6ab2c77f4b9a35.Zr0m6Q3mXw0d3b1nq8m2oZ"
ROUND_EXAMPLE: Final[dict[str, Any]] = {
    "id": "spring", "state": "open", "epsilon": 1.0, "epsilon_report": 0.5, "n_bins": 7, "bins": "random", "n_users": 1843,
    "opens": 1767225600, "closes": 1769904000, "joiner_seconds": 604800, "visibility": "public", "profile": "counts",
    "search_seed": 0, "digest": "5d" * 32,
    "privacy": "Per edge: in round spring, whether any one contact exists changes ...", "reports": 912, "joiners": 0,
    "progress": None, "failure": None, "opened_at": 1767225600, "closed_at": None, "released_at": None, "created_at": 1767225000,
    "series": None, "evidence": None,
}  # fmt: skip


_WALTZ: Final = {"rank": 1, "item": "waltz", "reason": "several in your close community rated this"}
_MINE: Final[dict[str, Any]] = {
    "id": "spring", "state": "open", "digest": "5d" * 32, "may_answer": True, "answered_at": None, "late": False, "series": None,
}  # fmt: skip


def make_example(**content: Any) -> ConfigDict:
    """The settings of a model with an example of it."""
    return ConfigDict(json_schema_extra={"example": content})


class ErrorResponse(BaseModel):
    """What every refusal looks like."""

    error: str = Field(description="What is wrong and what to do, in one line.")


class JsonRequest(BaseModel):
    """A JSON body; unknown fields and numbers written as text are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class NewUsers(JsonRequest):
    """Users by their ids."""

    users: list[str] = Field(min_length=1, max_length=MOST_AT_ONCE, description="Ids in any spelling.")


class UsersToEnrol(NewUsers):
    """Users to enrol."""

    invite: bool = Field(False, description="Also make an invitation for each new user.")


class Joining(JsonRequest):
    """The token that an invited device has drawn."""

    token_sha256: str = Field(pattern="^[0-9a-f]{64}$", description="SHA-256 of the token, which stays on the device.")


class LinkToDraw(JsonRequest):
    """An invitation's link."""

    link: str = Field(min_length=1, max_length=1000, description="What the QR code says.")


class OneUser(JsonRequest):
    """A user."""

    user: str = Field(min_length=1, description="An id in any spelling.", examples=["ada@a.example"])


class RoundWish(JsonRequest):
    """A round that the operator would like."""

    id: str = Field(pattern=f"^{ROUND_ID}$", description="Its name.", examples=["spring"])
    epsilon: float = Field(ge=MIN_EPSILON, le=1e6, allow_inf_nan=False, description="The privacy promise per contact.")
    n_bins: int | None = Field(None, ge=1, le=MAX_BINS, description="Number of bins; null: floor(ln users), or one per label.")
    bins: Literal["random", "labels"] = Field("random", description="Random bins, or public labels that are uploaded.")
    opens: int | None = Field(None, ge=0, le=LAST_SECOND, description="First second for reports; null: when it is opened.")
    closes: int | None = Field(None, ge=1, le=LAST_SECOND, description="First second without; null: when it is closed by hand.")
    joiner_seconds: int = Field(0, ge=0, le=LAST_SECOND, description="How long after closes later users may still report.")
    search_seed: int = Field(0, ge=0, le=2**63 - 1, description="Seed of the tree search; same reports and seed, same tree.")
    profile: str = Field(
        "counts",
        json_schema_extra={"enum": list(ONE_ROUND_PROFILES)},
        description="Compare users by counts per bin, by shares, or by shares and their own labels.",
    )
    visibility: Literal["public", "users", "operator"] = Field("public", description="Who may read the release.")

    @model_validator(mode="after")
    def _know_profile(self) -> RoundWish:
        if self.profile not in ONE_ROUND_PROFILES:
            raise ValueError(f"profile {self.profile!r} is unknown: use one of {', '.join(ONE_ROUND_PROFILES)}")
        if self.profile in LABEL_PROFILES and self.bins != "labels":
            raise ValueError(f"profile {self.profile!r} needs bins 'labels': random bins say nothing about a user")
        return self


class PlaceInSeries(BaseModel):
    """Of which series a round is."""

    name: str
    number: int = Field(description="The place of the round in the series, from 1.")
    rounds: int = Field(description="How many rounds the series has at most.")
    epsilon: float = Field(description="The privacy promise per contact over all rounds of the series together.")


class SeriesEvidence(BaseModel):
    """What the reports of a series tell so far."""

    figure: float = Field(description="How much more contacts users have in their own bins than chance, in standard deviations.")
    threshold: float = Field(description="What a network without communities stays below.")
    sees_communities: bool = Field(description="Whether the reports tell who contacts are, not only how many.")
    groups: int = Field(description="How many groups the reports tell apart.")
    users: int = Field(description="Users who answered every round that was used.")
    rounds: list[int] = Field(description="The rounds that were used, by number; others had too few reports.")


class Progress(BaseModel):
    """How far learning is."""

    stage: str = Field(description="What is being done.")
    done: int = Field(description="How much of it.")
    total: int = Field(description="Of how much.")


class RoundResponse(BaseModel):
    """A round as everybody may know it."""

    model_config = make_example(**ROUND_EXAMPLE)

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
    visibility: Literal["public", "users", "operator"] = Field(description="Who may read what comes of it.")
    profile: str = Field(description="How users are compared: counts, shares or shares+own.")
    search_seed: int = Field(description="Seed of the tree search.")
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
    series: PlaceInSeries | None = Field(description="Null for a round on its own.")
    evidence: SeriesEvidence | None = Field(description="Of the series up to this round, once its groups or tree are inferred.")


class RoundList(BaseModel):
    """Rounds, newest first."""

    model_config = make_example(rounds=[ROUND_EXAMPLE])

    rounds: list[RoundResponse]


class AnswersResponse(BaseModel):
    """How many reports of a round came when."""

    model_config = make_example(round="spring", begin=1767225600, seconds=3600, counts=[120, 64, 31])

    round: str
    begin: int = Field(description="When the round was opened, UTC seconds.")
    seconds: int = Field(description="Length of a stretch.")
    counts: list[int] = Field(description="Reports in each stretch, up to the close or to now.")


class RoundOfUser(BaseModel):
    """A round from one user's point of view."""

    id: str
    state: State
    digest: str
    may_answer: bool = Field(description="Whether the round takes a report of this user now.")
    answered_at: int | None = Field(description="When this user's report was accepted.")
    late: bool = Field(description="Whether this user was enrolled after the round was opened.")
    series: PlaceInSeries | None = Field(description="Null for a round on its own.")


class Me(BaseModel):
    """A user and the rounds."""

    model_config = make_example(user="ada@a.example", enrolled_at=1767225600, discoverable=True, rounds=[_MINE])

    user: str
    enrolled_at: int
    discoverable: bool = Field(description="Whether the user may be recommended to others.")
    rounds: list[RoundOfUser]


class ReportResponse(BaseModel):
    """What became of a report."""

    model_config = make_example(round="spring", status="accepted", late=False)

    round: str
    status: Literal["accepted", "already accepted"]
    late: bool


class Tokens(BaseModel):
    """What an enrolment gave. The tokens are shown this once."""

    model_config = make_example(tokens={"ada@a.example": _TOKEN}, existing=["bob@b.example"], invitations={})

    tokens: dict[str, str] = Field(description="Token by normalised user id.")
    existing: list[str] = Field(description="Ids that were enrolled already or named twice.")
    invitations: dict[str, str] = Field(description="Code of the invitation of each new user, if asked for.")


class InvitationCodes(BaseModel):
    """New invitations, shown this once."""

    model_config = make_example(invitations={"ada@a.example": _CODE})

    invitations: dict[str, str] = Field(description="Code by normalised user id; a link is `ADDRESS/join#CODE`.")


class Joined(BaseModel):
    """Who has joined."""

    model_config = make_example(user="ada@a.example")

    user: str = Field(description="The normalised id of the user whose token it is now.")


class Token(BaseModel):
    """A new token, shown this once."""

    model_config = make_example(user="ada@a.example", token=_TOKEN)

    user: str
    token: str


class ListedUser(BaseModel):
    """A user as the operator sees them."""

    user: str
    enrolled_at: int
    invitation: Literal["waiting", "used"] | None = Field(description="What became of the last invitation; null: there is none.")
    discoverable: bool = Field(description="Whether the user may be recommended to others.")


class RevokedUsers(BaseModel):
    """Whose tokens are worthless now."""

    model_config = make_example(revoked=1843)

    revoked: int = Field(description="How many users need a new token.")


class UserList(BaseModel):
    """Some of the users, in the order of enrolment."""

    model_config = make_example(
        users=[{"user": "ada@a.example", "enrolled_at": 1767225600, "invitation": "used", "discoverable": True}],
        total=1,
        next=None,
    )

    users: list[ListedUser]
    total: int = Field(description="How many are enrolled.")
    next: int | None = Field(description="What to pass as `after` to go on; null at the end.")


class RecommendedItem(BaseModel):
    """An item for the user."""

    rank: int = Field(description="1 for the best.")
    item: str
    reason: str = Field(description="Why it is listed, in words without numbers.")


class RecommendResponse(BaseModel):
    """Items for the token's user, best first."""

    model_config = make_example(user="ada@a.example", items=[_WALTZ])

    user: str
    items: list[RecommendedItem]


class Status(BaseModel):
    """All is well."""

    model_config = make_example(status="ok")

    status: Literal["ok"]


class Service(BaseModel):
    """What this server is."""

    model_config = make_example(
        name="privact", version=__version__, protocol_version=Round.version, minimum_users=100,
        accepts={"report": "application/octet-stream", "labels": "text/csv"},
    )  # fmt: skip

    name: Literal["privact"]
    version: str
    protocol_version: int = Field(description="Version of round parameters and reports.")
    minimum_users: int = Field(description="Fewest users of a round.")
    accepts: dict[str, str] = Field(description="Media type of each kind of upload.")
