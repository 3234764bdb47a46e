"""The JSON of trees, of what is recommended from them, and of rehearsals."""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from privact.aggregator.http.models import JsonRequest, make_example

__all__ = ["CommunityResponse", "CutResponse", "ExploreResponse", "NearestResponse", "PathResponse", "SummaryResponse"]

_ADA: Final = {"user": "ada@a.example", "joined_late": False}
_BOB: Final = {"user": "bob@b.example", "joined_late": True}
_KNOWN: Final = {"rank": 1, "user": "bob@b.example", "reason": "many in your circle are in the same group"}


class TreeUser(BaseModel):
    """A user of the tree."""

    user: str = Field(description="Id of the user, normalised.")
    joined_late: bool = Field(description="Whether the user was placed after the release, without learning the tree again.")


class NearUser(TreeUser):
    """A user near another."""

    community_size: int = Field(description="Users in the smallest cluster that holds both.")


class NearestResponse(TreeUser):
    """Users near a user, nearest communities first; of equally near ones those in larger clusters first."""

    model_config = make_example(**_ADA, nearest=[_BOB | {"community_size": 2}], tied=1)

    nearest: list[NearUser]
    tied: int = Field(description="Users as near as the last one listed, that one and those not listed included.")


class CommunityResponse(TreeUser):
    """The cluster of about the asked size around a user, never of more than twice as many."""

    model_config = make_example(**_ADA, asked_size=2, size=3, alike=1, offset=0, users=[_ADA, _BOB])

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

    model_config = make_example(**_ADA, clusters=4, sizes=[1, 2, 3, 120])

    clusters: int = Field(description="How many clusters hold the user.")
    sizes: list[int] = Field(description="Users in each of them, the smallest first, at most `limit`.")


class CutCluster(BaseModel):
    """A cluster of a cut."""

    cluster: int = Field(description="Number of the cluster in the tree's own order.")
    size: int = Field(description="Users that it holds.")
    users: list[TreeUser] = Field(description="Some of its users.")


class CutResponse(BaseModel):
    """The tree cut into clusters, by always splitting the one with the largest split at or below it."""

    model_config = make_example(users=120, clusters=[{"cluster": 0, "size": 70, "users": [_ADA]}])

    users: int = Field(description="Users of the tree.")
    clusters: list[CutCluster]


class SummaryResponse(BaseModel):
    """A released tree as a whole."""

    model_config = make_example(
        round="spring", users=121, joined_late=1, depth={"mean": 9.5, "largest": 17}, sha256="00" * 32, released_at=1767229200,
        parameters={"round": "spring", "epsilon": 1.0, "epsilon_report": 0.5, "n_bins": 4, "bins": "random"},
        privacy="Per edge: in round spring, whether any one contact exists changes the probability of anything ...",
        formats=["hct", "newick", "json", "linkage"],
    )  # fmt: skip

    round: str
    users: int = Field(description="Users of the tree, with those who joined late.")
    joined_late: int = Field(description="Users who were placed after the release.")
    depth: dict[str, float] = Field(description="How many clusters are above users: `mean` and `largest`.")
    sha256: str = Field(description="Of the released file, which holds nobody who joined late.")
    released_at: int = Field(description="UTC seconds since 1970.")
    parameters: dict[str, Any] = Field(description="The public parameters in the released file.")
    privacy: str = Field(description="What the round promises, in plain English.")
    formats: list[str] = Field(description="What can be downloaded.")


class ExploreResponse(BaseModel):
    """What the explorer draws; the fields depend on the route."""

    model_config = ConfigDict(extra="allow")

    joined_late: list[str] = Field(description="Which of the users named here joined late.")


class RehearsalWish(JsonRequest):
    """A round to play with made-up devices."""

    contacts: float = Field(gt=0, le=500, allow_inf_nan=False, description="Contacts of a usual user.")
    epsilon: float = Field(
        ge=0.5, le=1e6, allow_inf_nan=False, description="The privacy promise per contact; below 0.5 a rehearsal takes minutes."
    )


class RehearsalResponse(BaseModel):
    """How well communities came out: of a user's ten nearest users, the share of the own community."""

    model_config = make_example(users=500, communities=8, labels=0.62, random=0.13, series=0.55, rounds=4, chance=0.12)

    users: int = Field(description="How many made-up users were played.")
    communities: int = Field(description="In how many communities they are.")
    labels: float = Field(description="With labels as bins that name the community of three in four users.")
    random: float = Field(description="With random bins.")
    series: float = Field(description="Of a series of rounds that share epsilon, without labels.")
    rounds: int = Field(description="How many rounds the series has.")
    chance: float = Field(description="Of users drawn at random.")


class RatedItem(BaseModel):
    """An item and how many users rated it."""

    item: str
    users: int


class RatingsResponse(BaseModel):
    """What was understood of uploaded ratings."""

    model_config = make_example(users=100, items=500, ratings=2000, enrolled=98, popular=[{"item": "waltz", "users": 40}])

    users: int
    items: int
    ratings: int
    enrolled: int = Field(description="How many of the users are enrolled here.")
    popular: list[RatedItem] = Field(description="The most rated items.")
    uploaded_at: int | None = Field(None, description="UTC seconds; only of ratings that are here.")


class QualityResponse(BaseModel):
    """Recommendations beside the most popular items, for users whose own ratings are hidden in turn."""

    model_config = make_example(round="spring", users=300, precision=0.59, precision_popular=0.35, ndcg=0.62, ndcg_popular=0.38)

    round: str
    users: int = Field(description="How many users were asked.")
    precision: float = Field(description="Share of 10 recommended items that the user really has, on average.")
    precision_popular: float = Field(description="The same for the most popular items.")
    ndcg: float = Field(description="NDCG@10.")
    ndcg_popular: float = Field(description="The same for the most popular items.")


class DiscoverableWish(JsonRequest):
    """Whether others may be told about a user."""

    discoverable: bool = Field(description="False: the user is recommended to nobody.")


class DiscoverableUserWish(DiscoverableWish):
    """A user, and whether others may be told about them."""

    user: str = Field(min_length=1, description="An id in any spelling.", examples=["ada@a.example"])


class RecommendedPerson(BaseModel):
    """Somebody whom the user may know."""

    rank: int = Field(description="1 for the likeliest.")
    user: str
    reason: str = Field(description="Why they are listed, in words without numbers.")


class LabelNamesResponse(BaseModel):
    """What the labels of a round are called."""

    model_config = make_example(round="spring", names=["a.example", "b.example"])

    round: str
    names: list[str] = Field(description="By number, in the order of the numbers that a report has.")


class PeopleResponse(BaseModel):
    """Users whom the token's user may know, likeliest first."""

    model_config = make_example(user="ada@a.example", people=[_KNOWN])

    user: str
    people: list[RecommendedPerson]


class Discoverable(BaseModel):
    """Whether others may be told about the token's user."""

    model_config = make_example(discoverable=False)

    discoverable: bool


class DiscoverableUser(BaseModel):
    """Whether others may be told about a user."""

    model_config = make_example(user="ada@a.example", discoverable=False)

    user: str
    discoverable: bool
