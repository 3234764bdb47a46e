"""The JSON of series of rounds, beside the models of single rounds."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import BaseModel, Field

from privact.aggregator.http.models import ROUND_EXAMPLE, JsonRequest, RoundResponse, SeriesEvidence, make_example
from privact.protocol.round import MAX_BINS, MIN_EPSILON
from privact.protocol.round_ids import ROUND_ID
from privact.protocol.round_series import MAX_SERIES_ROUNDS

__all__ = ["SeriesList", "SeriesResponse", "SeriesWish"]

_PLACE: Final = {"name": "autumn", "number": 2, "rounds": 4, "epsilon": 4.0}
_EVIDENCE: Final[dict[str, Any]] = {
    "figure": 12.4, "threshold": 7.0, "sees_communities": True, "groups": 8, "users": 1612, "rounds": [1, 2],
}  # fmt: skip
_SERIES: Final[dict[str, Any]] = {
    "name": "autumn", "state": "running", "epsilon": 4.0, "rounds": 4, "epsilon_per_round": 1.0, "asked": 2.0,
    "every_seconds": 604800, "joiner_seconds": 0, "visibility": "public", "evidence": _EVIDENCE,
    "finding": "the reports tell who contacts are, not only how many: the tree shows communities", "release": None,
    "privacy": "Per edge: in the 4 rounds of series autumn, whether any one contact exists changes ...",
    "members": [ROUND_EXAMPLE | {"id": "autumn.2", "series": _PLACE, "evidence": _EVIDENCE}],
    "created_at": 1767225000, "stopped_at": None,
}  # fmt: skip


class SeriesWish(JsonRequest):
    """A series of rounds that the operator would like."""

    name: str = Field(pattern=f"^{ROUND_ID}$", max_length=60, description="Its name.", examples=["autumn"])
    epsilon: float = Field(ge=MIN_EPSILON, le=1e6, allow_inf_nan=False, description="The promise per contact over all rounds.")
    rounds: int | None = Field(
        None, ge=2, le=MAX_SERIES_ROUNDS, description="How many rounds share epsilon equally; null: 4, or 5 from epsilon 4 on."
    )
    every_seconds: int = Field(604800, ge=1, le=10**9, description="How long each round is open.")
    n_bins: int | None = Field(None, ge=2, le=MAX_BINS, description="Bins of the first round; null: 8 to 32, or one per label.")
    bins: Literal["random", "labels"] = Field("random", description="Bins of the first round; later ones have the groups found.")
    joiner_seconds: int = Field(0, ge=0, le=10**10, description="How long after the last round later users may still report.")
    search_seed: int = Field(0, ge=0, le=2**63 - 1, description="Seed of groups and tree; same reports and seed, same tree.")
    visibility: Literal["public", "users", "operator"] = Field("public", description="Who may read the release.")


class SeriesResponse(BaseModel):
    """A series as everybody may know it."""

    model_config = make_example(**_SERIES)

    name: str
    state: Literal["draft", "running", "learning", "released", "failed", "stopped"]
    epsilon: float = Field(description="The privacy promise per contact over all rounds together.")
    rounds: int = Field(description="How many rounds there are at most.")
    epsilon_per_round: float = Field(description="What each round costs.")
    asked: float = Field(description="Epsilon of the rounds that were opened so far; what is left of epsilon may never be asked.")
    every_seconds: int = Field(description="How long each round is open.")
    joiner_seconds: int = Field(description="How long after the last round later users may still report.")
    visibility: Literal["public", "users", "operator"]
    evidence: SeriesEvidence | None = Field(description="The evidence so far; null until the first round is closed.")
    finding: str | None = Field(description="What the evidence means, in one line.")
    release: str | None = Field(description="The round under which the tree is released; null until then.")
    privacy: str = Field(description="What the series promises, in words.")
    members: list[RoundResponse] = Field(description="The rounds so far, in order.")
    created_at: int
    stopped_at: int | None = Field(description="When the operator stopped the series early; null if nobody did.")


class SeriesList(BaseModel):
    """Series, newest first."""

    model_config = make_example(series=[_SERIES])

    series: list[SeriesResponse]
