"""Exposure models: the blocks against the formulas, and lists whose answer can be seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from privact.errors import InputError, NotFittedError, UnknownUserError
from privact.recommend import cores
from privact.recommend.data.ratings import Ratings
from privact.recommend.exposure._expectation_maximisation import expectation_maximisation, exposures
from privact.recommend.exposure.exposure_settings import EXPOMF, RECQ, ExposureSettings
from privact.recommend.exposure.plain import fit_plainly, ignore_neighbours, own_contacts, posterior, sum_times_degree
from privact.recommend.exposure.priors import ContactPrior, DegreePrior, PopularityPrior
from privact.recommend.exposure.social_exposure import SocialExposure

SETTINGS = RECQ.but(
    factors=3, iterations=4, unexposed=3.0, precision=0.7, boost=5.0, user_ridge=0.3, item_ridge=0.2, initial_exposure=0.1
)
USERS, ITEMS = 11, 14


class Drawn:
    """Random ratings, contacts and first factors, small enough for the formulas."""

    def __init__(self, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.rated = (rng.random((USERS, ITEMS)) < 0.3).astype(np.float64)
        self.rated[3] = 0.0  # a user without ratings
        self.rated[:, 5] = 0.0  # an item without
        self.contacts = (rng.random((USERS, USERS)) < 0.3).astype(np.float64)
        np.fill_diagonal(self.contacts, 0.0)
        self.contacts[4] = 0.0
        self.users = rng.normal(size=(USERS, 3))
        self.items = rng.normal(size=(ITEMS, 3))

    def prior(self, kind: str, settings: ExposureSettings = SETTINGS, dtype: Any = np.float64) -> PopularityPrior:
        if kind == "popularity":
            return PopularityPrior(USERS, ITEMS, settings, dtype)
        if kind == "degree":
            return DegreePrior(USERS, ITEMS, settings, self.contacts.sum(axis=1), dtype)
        return ContactPrior(USERS, ITEMS, settings, csr_array(self.contacts), dtype)

    def boosted(self, kind: str) -> Any:
        if kind == "popularity":
            return ignore_neighbours
        return sum_times_degree(self.contacts) if kind == "degree" else own_contacts(self.contacts)

    def blocks(self, prior: PopularityPrior, settings: ExposureSettings = SETTINGS, dtype: Any = np.float64) -> Any:
        matrix = csr_array(self.rated.astype(dtype))
        return expectation_maximisation(
            matrix,
            matrix.T.tocsr(),
            np.ones(ITEMS, dtype),
            prior,
            settings,
            self.users.astype(dtype),
            self.items.astype(dtype),
            settings.iterations,
        )


def mu_of(prior: PopularityPrior) -> Any:
    favour = prior.favour(slice(0, USERS), slice(0, ITEMS))
    return favour / (favour + prior.against)


@pytest.mark.parametrize("kind", ["popularity", "degree", "contacts"])
@pytest.mark.parametrize("cells", [1, 40, 10_000])
def test_blocks_compute_what_the_formulas_say(kind: str, cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "CELLS", cells)
    drawn = Drawn()
    prior = drawn.prior(kind)
    users, items = drawn.blocks(prior)
    plain_users, plain_items, mu = fit_plainly(drawn.rated, drawn.boosted(kind), SETTINGS, drawn.users, drawn.items)
    np.testing.assert_allclose(users, plain_users, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(items, plain_items, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(mu_of(prior), mu, rtol=1e-9)


@pytest.mark.parametrize("kind", ["popularity", "degree", "contacts"])
def test_single_precision_stays_close(kind: str) -> None:
    drawn = Drawn(1)
    users, items = drawn.blocks(drawn.prior(kind, dtype=np.float32), dtype=np.float32)
    exact_users, exact_items, _ = fit_plainly(drawn.rated, drawn.boosted(kind), SETTINGS, drawn.users, drawn.items)
    assert users.dtype == items.dtype == np.float32
    np.testing.assert_allclose(users @ items.T, exact_users @ exact_items.T, atol=1e-3)


@pytest.mark.parametrize("precision", [0.01, 1.0, 100.0])
def test_compiled_exposures_are_those_of_double_precision(precision: float) -> None:
    rng = np.random.default_rng(3)
    settings = SETTINGS.but(precision=precision)
    preferences = rng.normal(size=(USERS, ITEMS)) * np.geomspace(0.001, 30.0, ITEMS)
    for kind in ("popularity", "degree", "contacts"):
        priors = [Drawn().prior(kind, settings, dtype) for dtype in (np.float64, np.float32)]
        for prior in priors:
            prior.learn(slice(0, ITEMS), np.linspace(0.0, 1.0, USERS * ITEMS).reshape(USERS, ITEMS).astype(prior.base.dtype))
        users, items = slice(2, USERS - 1), slice(3, ITEMS)
        exact, fast = (
            exposures(preferences[users, items].astype(prior.base.dtype), prior, users, items, settings) for prior in priors
        )
        assert (exact.dtype, fast.dtype) == (np.float64, np.float32)
        np.testing.assert_allclose(fast, exact, rtol=2e-5, atol=1e-30)


def test_no_step_lowers_the_posterior_density() -> None:
    drawn = Drawn(2)
    settings = SETTINGS.but(iterations=1, exposed=2.0)
    prior = PopularityPrior(USERS, ITEMS, settings, np.float64)
    values = []
    for _ in range(12):
        values.append(log_density(drawn.rated, drawn.users, drawn.items, mu_of(prior)[0], settings))
        drawn.users, drawn.items = drawn.blocks(prior, settings)
    assert np.all(np.diff(values) > -1e-9)
    assert values[-1] > values[0] + 1.0


def log_density(rated: Any, users: Any, items: Any, mu: Any, settings: ExposureSettings) -> float:
    """Log of the posterior density of factors and mu, up to a constant."""
    preference = users @ items.T
    density = settings.peak * np.exp(-0.5 * settings.precision * (rated - preference) ** 2)
    data = np.where(rated > 0, np.log(mu * density), np.log(mu * density + 1.0 - mu)).sum()
    prior = ((settings.exposed - 1) * np.log(mu) + (settings.unexposed - 1) * np.log1p(-mu)).sum()
    return float(data + prior - 0.5 * settings.user_ridge * (users**2).sum() - 0.5 * settings.item_ridge * (items**2).sum())


def test_a_liked_item_that_was_not_rated_was_hardly_exposed() -> None:
    rated, mu = np.zeros((1, 2)), np.full((1, 2), 0.5)
    seen = posterior(rated, np.array([[3.0]]), np.array([[1.0], [0.0]]), mu, EXPOMF)
    peak = 1 / np.sqrt(2 * np.pi)
    np.testing.assert_allclose(seen[0], [peak * np.exp(-4.5) / (peak * np.exp(-4.5) + 1), peak / (peak + 1)])


def ratings_of(rows: list[list[int]], n_items: int) -> Ratings:
    matrix = np.zeros((len(rows), n_items))
    for user, items in enumerate(rows):
        matrix[user, items] = 1.0
    return Ratings.from_csr(csr_array(matrix), [f"u{u}" for u in range(len(rows))], [f"i{i}" for i in range(n_items)])


TWO_CAMPS = ratings_of([[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3], [4, 5, 6], [4, 5, 7], [4, 6, 7], [5, 6, 7]], 8)
"""Users 0 to 3 each miss one of items 0 to 3, users 4 to 7 one of items 4 to 7."""

SMALL = EXPOMF.but(factors=2, unexposed=4.0, initial_spread=0.1, iterations=20)


@pytest.mark.parametrize("rank_by", ["preference", "exposure"])
def test_each_user_is_shown_what_the_own_camp_has(rank_by: Any) -> None:
    model = SocialExposure(settings=SMALL, rank_by=rank_by).fit(TWO_CAMPS)
    first = [model.recommend(user, 1)[0].item for user in TWO_CAMPS.users]
    assert first == ["i3", "i2", "i1", "i0", "i7", "i6", "i5", "i4"]
    assert {similar.user for similar in model.similar_users("u0", 3)} == {"u1", "u2", "u3"}


def test_going_on_from_a_model_is_as_if_it_had_never_stopped() -> None:
    whole = SocialExposure(settings=SMALL.but(iterations=5)).fit(TWO_CAMPS)
    start = SocialExposure(settings=SMALL.but(iterations=3)).fit(TWO_CAMPS)
    before = start.user_factors_.tobytes(), start.prior_.base.tobytes()
    rest = SocialExposure(settings=SMALL.but(iterations=2), start=start, random_state=9).fit(TWO_CAMPS)
    assert rest.user_factors_.tobytes() == whole.user_factors_.tobytes()
    assert rest.item_factors_.tobytes() == whole.item_factors_.tobytes()
    assert rest.prior_.base.tobytes() == whole.prior_.base.tobytes()
    assert (start.user_factors_.tobytes(), start.prior_.base.tobytes()) == before  # the start is left as it was


@pytest.mark.parametrize("form", ["own", "recq"])
def test_contacts_count_after_a_start_without_them(form: Any) -> None:
    start = SocialExposure(settings=SMALL).fit(TWO_CAMPS)
    contacts = csr_array(np.roll(np.eye(8), 1, axis=1))
    alone, social = (
        SocialExposure(near, form, SMALL.but(iterations=2, boost=9.0), start=start).fit(TWO_CAMPS) for near in (None, contacts)
    )
    assert social.user_factors_.tobytes() != alone.user_factors_.tobytes()


def test_recq_cannot_tell_contacts_apart_but_the_published_model_can() -> None:
    one, other = np.zeros((8, 8)), np.zeros((8, 8))
    one[0, [1, 2]] = 1.0
    other[0, [5, 6]] = 1.0
    fits = {
        form: [SocialExposure(csr_array(each), form, SMALL.but(boost=3.0)).fit(TWO_CAMPS) for each in (one, other)]  # type: ignore[arg-type]
        for form in ("recq", "own")
    }
    same, different = fits["recq"], fits["own"]
    np.testing.assert_array_equal(same[0].user_factors_, same[1].user_factors_)
    assert np.abs(different[0].user_factors_ - different[1].user_factors_).max() > 1e-6


def test_a_user_without_ratings_is_shown_what_its_contacts_have() -> None:
    ratings = ratings_of([[], [0], [0], [1], [1], [1]], 3)
    contacts = np.zeros((6, 6))
    contacts[0, [1, 2]] = 1.0
    listed = {
        boost: [
            found.item
            for found in SocialExposure(csr_array(contacts), settings=SMALL.but(boost=boost)).fit(ratings).recommend("u0", 5)
        ]
        for boost in (1.0, 50.0)
    }
    assert listed == {1.0: ["i1", "i0"], 50.0: ["i0", "i1"]}  # item 2, which ignore_neighbours rated, never
    reason = SocialExposure(csr_array(contacts), settings=SMALL.but(boost=50.0)).fit(ratings).recommend("u0", 1)[0].reason
    assert reason == "2 of 2 in your close community rated this"


def test_who_has_nothing_in_common_is_not_similar_and_who_rated_all_gets_nothing() -> None:
    model = SocialExposure(settings=SMALL).fit(ratings_of([[0, 1], []], 2))
    assert model.recommend("u0", 5) == []
    assert model.similar_users("u1", 5) == []
    assert [found.item for found in model.recommend("u1", 5)] == ["i0", "i1"]
    with pytest.raises(UnknownUserError, match="no user 'eve'"):
        model.recommend("eve", 5)


def test_nothing_rated_gives_empty_lists() -> None:
    model = SocialExposure(settings=SMALL).fit(ratings_of([[], []], 3))
    assert model.recommend(["u0", "u1"], 5) == [[], []]
    assert model.rank(np.array([0]), 2).tolist() == [[-1, -1]]


def test_the_same_seed_gives_the_same_bytes_and_another_does_not() -> None:
    first, again = (SocialExposure(settings=SMALL, random_state=1).fit(TWO_CAMPS).user_factors_ for _ in range(2))
    assert first.tobytes() == again.tobytes()
    assert SocialExposure(settings=SMALL, random_state=2).fit(TWO_CAMPS).user_factors_.tobytes() != first.tobytes()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"factors": 0}, "factors is 0"),
        ({"iterations": -1}, "iterations is -1"),
        ({"boost": 0.5}, "boost is 0.5"),
        ({"exposed": 0.9}, "exposed is 0.9"),
        ({"unexposed": 1.0}, "unexposed is 1.0"),
        ({"precision": 0.0}, "precision is 0.0"),
        ({"initial_exposure": 1.0}, "initial_exposure is 1.0"),
    ],
)
def test_settings_that_mean_nothing_are_refused(changes: dict[str, float], told: str) -> None:
    with pytest.raises(InputError, match=told):
        RECQ.but(**changes)


def test_wrong_input_is_named() -> None:
    with pytest.raises(InputError, match="form 'mine' is unknown"):
        SocialExposure(form="mine")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="rank_by 'luck' is unknown"):
        SocialExposure(rank_by="luck")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"shape \(3, 3\) but there are 8 users"):
        SocialExposure(csr_array((3, 3))).fit(TWO_CAMPS)
    with pytest.raises(NotFittedError):
        SocialExposure().recommend("u0")


def test_a_start_that_does_not_fit_is_named() -> None:
    start = SocialExposure(settings=SMALL).fit(TWO_CAMPS)
    with pytest.raises(InputError, match="start was fitted to other ratings"):
        SocialExposure(settings=SMALL, start=start).fit(ratings_of([[0], [1]], 2))
    with pytest.raises(InputError, match="start has 2 factors, but the settings say 3"):
        SocialExposure(settings=SMALL.but(factors=3), start=start).fit(TWO_CAMPS)
    with pytest.raises(InputError, match="start has neighbours"):
        SocialExposure(settings=SMALL, start=SocialExposure(csr_array((8, 8)), settings=SMALL).fit(TWO_CAMPS)).fit(TWO_CAMPS)
    with pytest.raises(NotFittedError):
        SocialExposure(settings=SMALL, start=SocialExposure()).fit(TWO_CAMPS)
