"""Services: everything that routes use, built once when the server starts."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from starlette.concurrency import run_in_threadpool

from privact.aggregator.domain.access.operators import store_first_operator
from privact.aggregator.domain.intake import Arrival, Decision, Intake
from privact.aggregator.domain.open_trees import OpenTrees
from privact.aggregator.domain.round_descriptions import Parameters
from privact.aggregator.domain.signed_rounds import catch_up, read_signing_key
from privact.aggregator.domain.suggestions.people import People
from privact.aggregator.domain.suggestions.recommendations import Recommendations
from privact.aggregator.http.auth import Gate
from privact.aggregator.http.batches import Batches
from privact.aggregator.http.prometheus import Metrics
from privact.aggregator.http.public_queries import PublicQueries
from privact.aggregator.jobs.supervisor import Supervisor
from privact.aggregator.settings import Settings
from privact.aggregator.storage.database import Store

__all__ = ["Services"]


@dataclass(frozen=True)
class Services:
    """What one server is made of.

    settings: how it runs. now: the clock, UTC seconds since 1970. store: the database.
    intake: reports on their way to the disk. gate: who is asking. parameters: of opened rounds, in memory.
    trees: released trees that are open. public: queries on them. signing_key: the operator's, secret.
    recommendations: items for users. people: users for users. supervisor: work in other processes.
    metrics: for Prometheus.
    """

    settings: Settings
    now: Callable[[], float]
    store: Store
    intake: Batches[Arrival, Decision]
    gate: Gate
    parameters: Parameters
    trees: OpenTrees
    public: PublicQueries
    signing_key: bytes
    recommendations: Recommendations
    people: People
    supervisor: Supervisor
    metrics: Metrics

    @classmethod
    def build(cls, settings: Settings, now: Callable[[], float] = time.time) -> Services:
        """Open the database, bring it up to date, and build every service on it.

        settings: how the server runs.
        now: the clock.
        """
        settings.data_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        store = Store.open(settings.database_url)
        if settings.operator_token is not None:
            with store.write() as connection:
                store_first_operator(connection, settings.operator_token.get_secret_value(), int(now()))
        signing_key = read_signing_key(settings.data_folder)
        catch_up(store, signing_key)
        trees = OpenTrees(store, settings)
        intake = Batches(Intake(store, now).take, name="privact-intake", most_waiting=settings.queue_length)
        return cls(
            settings=settings,
            now=now,
            store=store,
            intake=intake,
            gate=Gate(store, settings, now),
            parameters=Parameters(store),
            trees=trees,
            public=PublicQueries(settings, trees),
            signing_key=signing_key,
            recommendations=Recommendations(store, settings),
            people=People(store, settings),
            supervisor=Supervisor(store, settings, now),
            metrics=Metrics(store, lambda: intake.n_waiting),
        )

    def utc_seconds(self) -> int:
        """The time now, in whole UTC seconds."""
        return int(self.now())

    async def start(self) -> None:
        """Start what runs beside the routes; call it in the event loop."""
        self.intake.start()
        self.gate.start()
        await run_in_threadpool(self.supervisor.start)

    async def stop(self) -> None:
        """Write what was taken in, then stop everything."""
        await self.intake.stop()
        await self.gate.stop()
        await run_in_threadpool(self.supervisor.stop)
        await run_in_threadpool(self.public.stop)
        self.store.close()
