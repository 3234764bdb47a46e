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


def _servers() -> Measurement:
    from privact.bench.serving import servers

    return servers


def _learning() -> Measurement:
    from privact.bench.serving import learning_beside

    return learning_beside


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


def _queries() -> Measurement:
    from privact.bench import queries

    return queries


def _reading() -> Measurement:
    from privact.bench import reading

    return reading


def _refine() -> Measurement:
    from privact.bench.rounds import refine

    return refine


BENCHMARKS: tuple[Benchmark, ...] = (
    Benchmark(
        "refine",
        "What a series of rounds finds on planted blocks and real networks, beside one round of the same epsilon.",
        _refine,
        options=(
            Option("seeds", 5, "Runs of each row.", quick=1, minimum=1),
            Option(
                "rounds",
                0,
                "Rounds of each series. 0: the usual number for its epsilon, and 3, 4 and 5 on the rows that compare lengths.",
                quick=2,
                minimum=0,
                shown="0; with --quick 2",
            ),
        ),
        needs_data=True,
        extra="graph",
    ),
    Benchmark(
        "tree",
        "Trees on the paper's three networks: quality by the paper's settings, ours and others; bins, joiners, speed, growth.",
        _tree,
        options=(Option("seeds", 5, "Runs of each cell.", quick=1, minimum=1),),
        needs_data=True,
    ),
    Benchmark(
        "shape",
        "The shape of trees: clusters of a cut, sizes of communities, depth, with and without the balance floor, and of others.",
        _shape,
        options=(
            Option("seeds", 3, "Runs of each cell.", quick=1, minimum=1),
            Option(
                "balance",
                (0.02, 0.04, 0.06, 0.1, 0.2),
                "A balance on the curve of utility; may be repeated.",
                quick=(0.1,),
                minimum=0.0,
                maximum=0.5,
                shown="0.02, 0.04, 0.06, 0.1, 0.2; with --quick 0.1",
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
            Option("reports", 20_000, "Reports of each run.", quick=200, minimum=100),
            Option("concurrency", 64, "Reports under way at a time.", minimum=1, maximum=4096),
            Option("repeats", 3, "Runs on each database; the median counts.", quick=1, minimum=1),
        ),
        details="PostgreSQL is measured where its programs are installed: one is started for the run, and ended with it.",
        extra="device,server",
    ),
    Benchmark(
        "servers",
        "Durable reports a second as servers are added on one PostgreSQL database, and which side is busy.",
        _servers,
        details="Measured where PostgreSQL's programs are installed: one is started for the run, and ended with it.",
        options=(
            Option(
                "servers",
                (1, 2, 3),
                "A number of servers; may be repeated.",
                quick=(2,),
                minimum=1,
                maximum=64,
                shown="1, 2, 3; with --quick 2",
            ),
            Option("reports", 20_000, "Reports of each run.", quick=200, minimum=100),
            Option("concurrency", 64, "Reports under way at each server.", minimum=1, maximum=1024),
            Option("repeats", 5, "Runs with each number of servers; the median counts.", quick=1, minimum=1),
            Option(
                "database_cores",
                0.0,
                "Hold the database to so many cores, to see where it is the limit; 0 for all. Linux, as root.",
                minimum=0.0,
                maximum=1024.0,
            ),
        ),
        extra="device,server",
    ),
    Benchmark(
        "learning",
        "What users notice while a large round is learned: response times of reports before and meanwhile.",
        _learning,
        options=(
            Option("users", 1_000_000, "Users of the round that is learned.", quick=1_000, minimum=200),
            Option("reports", 20_000, "Users of the round that takes reports meanwhile.", quick=400, minimum=100),
            Option("rate", 100.0, "Reports a second.", minimum=1.0),
        ),
        extra="device,server",
    ),
    Benchmark(
        "attacks",
        "What attacks without a token cost an aggregator: memory under endless heads, response times under floods of queries.",
        _attacks,
        options=(
            Option("users", 1_000_000, "Users of the tree that is queried.", quick=2_000, minimum=100),
            Option("connections", 60, "Connections of an attack.", minimum=1, maximum=1000),
            Option("megabytes", 200, "Bytes of an endless head, in MB.", quick=4, minimum=1),
            Option("seconds", 10.0, "How long each flood lasts.", quick=0.5, minimum=0.1),
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
                quick=(500,),
                minimum=100,
                shown="10k, 100k; with --quick 500",
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
                (10_000, 20_000, 100_000, 1_000_000, 3_000_000, 10_000_000),
                "A number of users; may be repeated.",
                quick=(1_000, 2_000),
                minimum=200,
                shown="10k, 20k, 100k, 1M, 3M, 10M; with --quick 1k, 2k",
            ),
            Option("patience", 300.0, "Seconds that a peer is given.", quick=60.0, minimum=1.0),
            Option("no_peers", False, "Only our own."),
            Option("balance", 0.03, "Balance floor of our own trees; 0 for none.", minimum=0.0, maximum=0.5),
        ),
        details="Above a million users ours runs in two processes, and peers get a sample of 100,000 users.",
    ),
    Benchmark(
        "queries",
        "Queries on large trees: the first look-up of an id, search for a text, and the commands quality and cost.",
        _queries,
        options=(
            Option("users", 1_000_000, "Users of the tree that is queried.", quick=20_000, minimum=10_000),
            Option("judged", 400_000, "Users of the tree that quality and cost judge.", quick=2_000, minimum=200),
        ),
    ),
    Benchmark(
        "reading",
        "Degree vectors of a long edge list, counted block by block: seconds and memory.",
        _reading,
        options=(
            Option("contacts", 100_000_000, "Lines of the edge list, of a tenth as many users.", quick=100_000, minimum=1_000),
        ),
        details="The edge list takes 52 bytes a contact in the folder of temporary files.",
    ),
)
"""In the order of the help."""
