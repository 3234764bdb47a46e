"""the product -> time, memory and quality, beside its peers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privact.bench.benchmark import Benchmark as Benchmark
    from privact.bench.benchmark import Speed as Speed
    from privact.bench.compare import compare_files as compare_files
    from privact.bench.registry import BENCHMARKS as BENCHMARKS
    from privact.bench.serving.device_load import Simulation as Simulation
    from privact.bench.serving.device_load import simulate_round as simulate_round
else:
    from privact.exports import export_lazily

    __all__, __getattr__, __dir__ = export_lazily(
        __name__,
        {
            "privact.bench.benchmark": ["Benchmark", "Speed"],
            "privact.bench.compare": ["compare_files"],
            "privact.bench.serving.device_load": ["Simulation", "simulate_round"],
            "privact.bench.registry": ["BENCHMARKS"],
        },
    )
