"""What answers about released trees look like, with examples, for the OpenAPI description."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["CommunityAnswer", "CutAnswer", "NearestAnswer", "PathAnswer", "SummaryAnswer"]

_ADA = {"user": "ada@a.example", "joined_late": False}
_BOB = {"user": "bob@b.example", "joined_late": True}


def _example(**content: Any) -> ConfigDict:
    return ConfigDict(json_schema_extra={"example": content})


class TreeUser(BaseModel):
    """A user of the tree."""

    user: str = Field(description="Id of the user, normalised.")
    joined_late: bool = Field(description="Whether the user was placed after the release, without learning the tree again.")


class NearUser(TreeUser):
    """A user near another."""

    community_size: int = Field(description="Users in the smallest cluster that holds both.")


class NearestAnswer(TreeUser):
    """Users near a user, nearest communities first; those of one community come in the tree's own order."""

    model_config = _example(**_ADA, nearest=[_BOB | {"community_size": 2}])

    nearest: list[NearUser]


class CommunityAnswer(TreeUser):
    """The smallest cluster that holds a user and has at least the asked size."""

    model_config = _example(**_ADA, asked_size=2, size=3, offset=0, users=[_ADA, _BOB])

    asked_size: int
    size: int = Field(description="Users that the cluster holds.")
    offset: int = Field(description="Users left out before the first that is named.")
    users: list[TreeUser] = Field(description="Users of the cluster in the tree's own order, at most `limit`.")


class PathAnswer(TreeUser):
    """The clusters that hold a user, from the user alone to everybody."""

    model_config = _example(**_ADA, clusters=4, sizes=[1, 2, 3, 120])

    clusters: int = Field(description="How many clusters hold the user.")
    sizes: list[int] = Field(description="Users in each of them, the smallest first, at most `limit`.")


class CutCluster(BaseModel):
    """A cluster of a cut."""

    cluster: int = Field(description="Number of the cluster in the tree's own order.")
    size: int = Field(description="Users that it holds.")
    users: list[TreeUser] = Field(description="Some of its users.")


class CutAnswer(BaseModel):
    """The tree cut into clusters, by always splitting the largest."""

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


class SummaryAnswer(BaseModel):
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
