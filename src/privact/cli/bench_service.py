"""privact bench service: what a round costs an aggregator and a device."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from privact.cli.files import JsonFile, checked_output, keep_json
from privact.cli.text import table
from privact.progress import progress_bar

__all__ = ["service"]


def service(
    reports: Annotated[int, typer.Option(min=100, help="Reports of each run.")] = 20_000,
    concurrency: Annotated[int, typer.Option(min=1, max=4096, help="Reports under way at a time.")] = 64,
    repeats: Annotated[int, typer.Option(min=1, help="Runs on each database; the median counts.")] = 3,
    to_json: JsonFile = None,
) -> None:
    """Durable reports a second on SQLite and PostgreSQL, answer times, memory; bytes and time of a device.

    PostgreSQL is measured where its programs are installed: one is started for the run, and ended with it.
    """
    from privact.errors import MissingExtraError

    try:
        from privact.bench.service import bench_service
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "httpx", "device,server", "this benchmark") from None
    target = None if to_json is None else checked_output(to_json)
    with progress_bar() as show:
        result = bench_service(reports, concurrency, repeats, show)
    _print(result)
    keep_json(result, target)


def _print(result: dict[str, Any]) -> None:
    print(f"Durable reports a second, the load generator beside the server on {result['cores']} cores")
    rows = [
        [
            found["database"],
            *(
                (
                    f"{found['reports_per_second']:,.0f}",
                    f"{found['p50_ms']:.1f}",
                    f"{found['p99_ms']:.1f}",
                    f"{found['server_peak_mb']:.0f}",
                )
                if found["status"] == "ok"
                else (found["status"], "", "", "")
            ),
        ]
        for found in result["databases"]
    ]
    table(["database", "reports/s", "p50 ms", "p99 ms", "server MB"], rows, right=range(1, 5))
    print("\nBytes that one user sends and receives in a round (bodies), beside the paper's scheme")
    rows = [
        [
            f"{found['n_users']:,}",
            str(found["n_bins"]),
            f"{found['round'] + found['report']:,}",
            f"{found['paper_partition'] + found['paper_report']:,}",
        ]
        for found in result["bytes_per_user"]
    ]
    table(["users", "bins", "ours", "paper: the whole partition"], rows, right=range(4))
    device = result["device"]
    print(
        f"\nOn a device with {device['contacts']} contacts: {device['count_ms']:.2f} ms to count, "
        f"{device['noise_ms']:.2f} ms for the noise, {device['encode_ms']:.2f} ms to encode"
    )
