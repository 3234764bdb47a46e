"""privact bench: one command for each benchmark of the registry, one for all, and one that compares two files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from privact.bench.benchmark import Benchmark, Table
from privact.bench.registry import BENCHMARKS
from privact.cli.files import DataFolder, JsonFile, check_output, keep_json, write_json
from privact.cli.program import make_group
from privact.cli.studies.declared_options import declare_option, make_command
from privact.cli.text import Json, number, print_json, table
from privact.progress import progress_bar

app = make_group("Measure quality and speed, beside the paper's numbers.")

_SLOWER = 1

Quick = Annotated[bool, typer.Option("--quick", help="Small sizes and few runs: to try it, not to publish.")]


@app.callback()
def bench() -> None:
    """Measure quality and speed, beside the paper's numbers."""


def add_command(benchmark: Benchmark) -> None:
    """Add `privact bench NAME`."""

    def run(to_json: Path | None, quick: bool, data: Path | None = None, **options: Any) -> None:
        target = None if to_json is None else check_output(to_json)
        module = benchmark.module()
        with progress_bar() as show:
            result = benchmark.run(None if data is None else str(data), options, show, quick)
        print_tables(module.make_tables(result))
        keep_json(result, target)

    parameters: dict[str, tuple[Any, Any]] = {"data": (DataFolder, None)} if benchmark.needs_data else {}
    parameters |= {option.name: declare_option(option) for option in benchmark.options}
    parameters["quick"] = (Quick, False)
    parameters["to_json"] = (JsonFile, None)
    data = " --data data" if benchmark.needs_data else ""
    example = f"\b\nExample:\n  privact bench {benchmark.name}{data} --json {benchmark.name}.json"
    doc = f"{benchmark.summary}\n\n{benchmark.details}".rstrip()
    app.command(benchmark.name, epilog=example)(make_command(run, parameters, doc))


def print_tables(tables: list[Table]) -> None:
    """Print tables, each under its title."""
    for place, each in enumerate(tables):
        print(("\n" if place else "") + each.title)
        if each.heading:
            table(each.heading, each.rows, right=each.right)


for each in BENCHMARKS:
    add_command(each)


@app.command("all", epilog="\b\nExample:\n  privact bench all --data data --json bench.json")
def all_benchmarks(
    data: DataFolder = None,
    quick: Quick = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a run that was interrupted: keep what FILE.part holds.")
    ] = False,
    to_json: JsonFile = None,
) -> None:
    """Every benchmark with its default options: all published numbers, and what machine measured them.

    What was measured is kept in FILE.part after each benchmark, and becomes FILE after the last.
    """
    from privact.bench.machine import describe_machine
    from privact.bench.result_file import read_measured
    from privact.errors import InputError

    if resume and to_json is None:
        raise InputError("--resume goes on with the run of a file: name it with --json FILE")
    target = None if to_json is None else check_output(to_json)
    part = None if target is None else target.with_name(f"{target.name}.part")
    modules = {benchmark.name: benchmark.module() for benchmark in BENCHMARKS}
    kept = read_measured(part, describe_machine(), quick) if resume and part is not None else {}
    found = {}
    for benchmark in BENCHMARKS:
        name = benchmark.name
        if name in kept:
            found[name] = kept[name]
        else:
            with progress_bar() as show:

                def show_named(stage: str, done: int, total: int, name: str = name) -> None:
                    show(f"{name}: {stage}", done, total)

                found[name] = benchmark.run(None if data is None else str(data), None, show_named, quick)
            write_json({"machine": describe_machine(), "quick": quick, "benchmarks": kept | found}, part)
        earlier = f" (measured before, kept in {part})" if name in kept else ""
        print(f"{'' if benchmark is BENCHMARKS[0] else chr(10)}== {name}{earlier}")
        print_tables(modules[name].make_tables(found[name]))
    keep_json({"machine": describe_machine(), "quick": quick, "benchmarks": found}, target)
    if part is not None:
        part.unlink(missing_ok=True)


@app.command("compare", epilog="\b\nExample:\n  privact bench compare before.json after.json")
def print_changes(
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="A file of privact bench --json.", show_default=False)],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="A later one.", show_default=False)],
    as_json: Json = False,
) -> None:
    """Name what got slower, or takes more memory, by more than 15 %; exits with 1 if anything did."""
    from privact.bench.compare import MOST_SLOWER, compare_files

    changes = compare_files(before, after)
    slower = [change for change in changes if change.slower]
    if as_json:
        print_json({"limit": MOST_SLOWER, "slower": [c.name for c in slower], "changes": [c._asdict() for c in changes]})
    else:
        if slower:
            rows = [[c.name, number(c.before), number(c.after), c.unit, f"{100 * c.worse:.0f} %"] for c in slower]
            table(["slower", "before", "after", "unit", "worse by"], rows, right=(1, 2, 4))
            print()
        print(f"{len(slower)} of {len(changes)} numbers are worse by more than {100 * MOST_SLOWER:.0f} %.")
    if slower:
        raise typer.Exit(_SLOWER)
