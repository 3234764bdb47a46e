"""Metrics for Prometheus: how many reports came and what became of them, how long requests take, where rounds are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily, Metric, SummaryMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy import func, select

from privact.aggregator.storage.database import Store
from privact.aggregator.storage.schema import STATES, rounds

__all__ = ["CONTENT_TYPE", "Metrics"]

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
disable_created_metrics()  # type: ignore[no-untyped-call]  # no second time series beside each counter
_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """The counters of one server, in a registry of their own.

    store: whose rounds are counted.
    n_waiting: how many reports wait for the disk, now.
    """

    def __init__(self, store: Store, n_waiting: Callable[[], float]) -> None:
        self._registry = CollectorRegistry()
        reports = Counter("privact_reports", "Reports by what became of them.", ["outcome"], registry=self._registry)
        self.outcome: Final = lru_cache(maxsize=64)(reports.labels)
        """The counter of reports with one outcome."""
        self.requests: Final = Histogram(
            "privact_request_seconds",
            "Time from a request to the end of its response.",
            ["method", "route", "status"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        """Seconds of requests by method, route and status."""
        Gauge("privact_report_queue", "Reports that wait for the disk.", registry=self._registry).set_function(n_waiting)
        ProcessCollector(registry=self._registry)
        self._registry.register(_Rounds(store))

    def text(self) -> bytes:
        """Everything in Prometheus' text format."""
        return generate_latest(self._registry)


class _Rounds(Collector):
    """What the table of rounds tells."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def describe(self) -> Iterator[Metric]:
        """Nothing is asked at registration."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """Rounds by state, and how long learning took."""
        took = select(func.count(), func.sum(rounds.c.released - rounds.c.closed)).where(rounds.c.state == "released")
        inferred = rounds.c.evidence.is_not(None)
        counted = select(rounds.c.state, inferred, func.count()).group_by(rounds.c.state, inferred)
        counts = dict.fromkeys((*STATES, "followed"), 0)
        with self._store.read() as connection:
            for state, followed, number in connection.execute(counted):
                # A round that its series went on from stays closed, and waits for nothing.
                counts["followed" if followed and state == "closed" else state] += number
            n_released, seconds = connection.execute(took).one()
        by_state = GaugeMetricFamily(
            "privact_rounds", "Rounds by state; closed ones that a series went on from apart.", labels=["state"]
        )
        for name, number in counts.items():
            by_state.add_metric([name], number)
        yield by_state
        yield SummaryMetricFamily(
            "privact_learning_seconds",
            "From the close of a round to its release.",
            count_value=n_released,
            sum_value=float(seconds or 0),
        )
