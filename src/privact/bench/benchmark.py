"""The one shape of a benchmark: a module that measures, makes tables for a person, and names the speeds to compare."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from privact.bench.machine import describe_machine
from privact.errors import MissingExtraError
from privact.experiments.experiment import Option
from privact.progress import Progress, ignore_progress

__all__ = ["Benchmark", "Measurement", "Speed", "Table", "Task"]


@dataclass(frozen=True)
class Task:
    """What a benchmark is asked to measure.

    data: folder of the datasets; the environment variable PRIVACT_DATA if absent.
    options: the value of each of the benchmark's options, by name.
    progress: told what is running, how much is done, of how much.
    quick: small sizes and few runs, to see that it works.
    """

    data: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    progress: Progress = ignore_progress
    quick: bool = False

    def show(self, stage: str) -> None:
        """Say what is running."""
        self.progress(stage, 0, 0)


class Table(NamedTuple):
    """Measurements as a person reads them.

    title: what they are. heading, rows: the table; both may be empty where the title says it all.
    right: the columns aligned to the right.
    """

    title: str
    heading: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    right: Sequence[int] = ()


class Speed(NamedTuple):
    """One number that must not get worse from one version to the next.

    name: what was measured. value, unit: in seconds, milliseconds, MB, or something a second.
    more_is_better: whether a larger value is the better one.
    """

    name: str
    value: float
    unit: str
    more_is_better: bool = False


class Measurement(Protocol):
    """The module of a benchmark."""

    def measure(self, task: Task) -> dict[str, Any]:
        """Run every measurement; the result fits in JSON."""

    def make_tables(self, result: dict[str, Any]) -> list[Table]:
        """The result as tables."""

    def list_speeds(self, result: dict[str, Any]) -> list[Speed]:
        """The numbers that are compared between versions."""


@dataclass(frozen=True)
class Benchmark:
    """One benchmark.

    name: of the command. summary: one line for --help; details: more lines.
    load: imports and returns its module.
    options: what the caller may choose. needs_data: whether it reads the paper's datasets.
    extra: the optional dependencies that it needs.
    """

    name: str
    summary: str
    load: Callable[[], Measurement]
    options: tuple[Option, ...] = ()
    needs_data: bool = False
    details: str = ""
    extra: str = ""

    def module(self) -> Measurement:
        """The module of the benchmark, with the packages that it needs."""
        try:
            return self.load()
        except ModuleNotFoundError as error:
            if not self.extra:
                raise
            raise MissingExtraError(error.name or self.extra, self.extra, "this benchmark") from None

    def run(
        self,
        data: str | None = None,
        options: Mapping[str, Any] | None = None,
        progress: Progress = ignore_progress,
        quick: bool = False,
    ) -> dict[str, Any]:
        """Measure; the result as it is written to a file.

        options: chosen values by name; what is absent or None has its default. data, progress, quick: as in `Task`.
        """
        given = {name: value for name, value in (options or {}).items() if value is not None}
        chosen = {option.name: given.get(option.name, option.default_of(quick)) for option in self.options}
        module = self.module()
        result = module.measure(Task(data, chosen, progress, quick))
        speeds = [speed._asdict() for speed in module.list_speeds(result)]
        return {"benchmark": self.name, "machine": describe_machine(), "quick": quick, **result, "speeds": speeds}
