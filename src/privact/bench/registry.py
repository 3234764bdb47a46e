"""Every benchmark. A new one is a module like those below and one entry here: its command comes from this list."""

from __future__ import annotations

from privact.bench.benchmark import Benchmark, Measurement
from privact.experiments.experiment import Option

__all__ = ["BENCHMARKS"]


def _tree() -> Measurement:
    from privact.bench import tree

    return tree


def _baselines() -> Measurement:
    from privact.bench import baselines

    return baselines


def _service() -> Measurement:
    from privact.bench.serving import service

    return service


def _attacks() -> Measurement:
    from privact.bench.serving import attacks

    return attacks


def _scale() -> Measurement:
    from privact.bench import scale

    return scale


def _shape() -> Measurement:
    from privact.bench import shape

    return shape


def _recommend() -> Measurement:
    from privact.bench import recommend

    return recommend


def _refine() -> Measurement:
    from privact.bench import refine

    return refine


BENCHMARKS: tuple[Benchmark, ...] = (
    Benchmark(
        "refine",
        "What a series of rounds finds on planted blocks and real networks, beside one round of the same epsilon.",
        _refine,
        options=(
            Option("seeds", 5, "Runs of each row.", minimum=1),
            Option("rounds", 4, "Rounds of each series.", minimum=2),
        ),
        needs_data=True,
        extra="graph",
    ),
    Benchmark(
        "tree",
        "Trees on the paper's three networks: quality by the paper's settings, ours and others; bins, joiners, speed, growth.",
        _tree,
        options=(Option("seeds", 5, "Runs of each cell.", minimum=1),),
        needs_data=True,
    ),
    Benchmark(
        "shape",
        "The shape of trees: clusters of a cut, sizes of communities, depth, with and without the balance floor, and of others.",
        _shape,
        options=(
            Option("seeds", 3, "Runs of each cell.", minimum=1),
            Option(
                "balance", (0.02, 0.06, 0.1, 0.2), "A balance on the curve of utility; may be repeated.", minimum=0.0, maximum=0.5
            ),
        ),
        needs_data=True,
        extra="graph",
    ),
    Benchmark(
        "baselines",
        "The chain of the hierarchical random graph (CMN, CMN-DP): proposals a second, compiled and plain.",
        _baselines,
        needs_data=True,
    ),
    Benchmark(
        "service",
        "Durable reports a second on SQLite and PostgreSQL, response times, memory; bytes and time of a device.",
        _service,
        options=(
            Option("reports", 20_000, "Reports of each run.", minimum=100),
            Option("concurrency", 64, "Reports under way at a time.", minimum=1, maximum=4096),
            Option("repeats", 3, "Runs on each database; the median counts.", minimum=1),
        ),
        details="PostgreSQL is measured where its programs are installed: one is started for the run, and ended with it.",
        extra="device,server",
    ),
    Benchmark(
        "attacks",
        "What attacks without a token cost an aggregator: memory under endless heads, response times under floods of queries.",
        _attacks,
        options=(
            Option("users", 1_000_000, "Users of the tree that is queried.", minimum=100),
            Option("connections", 60, "Connections of an attack.", minimum=1, maximum=1000),
            Option("megabytes", 200, "Bytes of an endless head, in MB.", minimum=1),
            Option("seconds", 10.0, "How long each flood lasts.", minimum=0.1),
        ),
        extra="device,server",
    ),
    Benchmark(
        "recommend",
        "Recommendations from many ratings: seconds and memory of fitting and choosing settings, milliseconds of a list.",
        _recommend,
        options=(
            Option(
                "users",
                (10_000, 100_000),
                "A number of users; as many items, a hundred times as many ratings. May be repeated.",
                minimum=100,
                shown="10k, 100k",
            ),
        ),
    ),
    Benchmark(
        "scale",
        "Trees of many users: time, memory and cost, in one process, in several, on a Dask cluster, and by other methods.",
        _scale,
        options=(
            Option(
                "users",
                (10_000, 20_000, 100_000, 1_000_000),
                "A number of users; may be repeated.",
                minimum=100,
                shown="10k, 20k, 100k, 1M",
            ),
            Option("patience", 1800.0, "Seconds that a peer is given.", minimum=1.0),
            Option("no_peers", False, "Only our own."),
        ),
    ),
)
"""In the order of the help."""
