"""The one shape of an experiment: a folder with what is measured (measure.py) and how it is presented (page.py).

`measure(task)` returns a document that fits in JSON; `write_page(document)` makes the page of it, from nothing else. Everything
that a command line or the report has to know about an experiment is in its `Experiment`, which costs nothing to import.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privact.errors import InputError
from privact.experiments.report.findings import Findings, Page
from privact.progress import Progress, ignore_progress

if TYPE_CHECKING:
    from privact.experiments.running.networks import Networks

__all__ = ["Experiment", "Functions", "Option", "Task"]

Document = dict[str, Any]


@dataclass(frozen=True)
class Option:
    """Something that the caller of an experiment or a benchmark may choose.

    name: on the command line, without dashes. default: of a full run: a number, a truth value, or a tuple of numbers.
    help: what it means. quick: the default of a quick run, None for the same.
    minimum, maximum: the numbers that are allowed; None for any. shown: how help shows the default, "" as it is.
    """

    name: str
    default: Any
    help: str
    quick: Any = None
    minimum: float | None = None
    maximum: float | None = None
    shown: str = ""

    def default_of(self, quick: bool) -> Any:
        """The default of a full or a quick run."""
        return self.quick if quick and self.quick is not None else self.default

    def check(self, value: Any) -> Any:
        """The value, if it is allowed."""
        if (self.minimum is not None and value < self.minimum) or (self.maximum is not None and value > self.maximum):
            least = "any" if self.minimum is None else f"at least {self.minimum:g}"
            most = "" if self.maximum is None else f", at most {self.maximum:g}"
            raise InputError(f"{self.name} = {value:g} is outside its range: choose {least}{most}")
        return value


@dataclass(frozen=True)
class Task:
    """What an experiment is asked to measure.

    networks: whose contacts and ratings.
    quick: fewer runs or smaller networks.
    options: the value of each of the experiment's options, by name.
    parts: folder of finished parts, to resume after an interruption; None keeps none.
    progress: told what is running, how much is done, of how much.
    """

    networks: Networks
    quick: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    parts: Path | None = None
    progress: Progress = ignore_progress

    def names(self, quick: tuple[str, ...] = ()) -> list[str]:
        """The networks to measure.

        quick: which of the paper's networks a quick run takes, if the caller has not chosen any.
        """
        return list(quick if quick and self.quick and not self.networks.chosen else self.networks.names)


Functions = tuple[Callable[[Task], Document], Callable[[Document], Page]]
"""The functions `measure` and `write_page` of an experiment."""


@dataclass(frozen=True)
class Experiment:
    """One table or figure.

    name: of the command, of its files and of its section in the report. title: of its page.
    summary: one line for --help.
    load: imports and returns the two functions.
    epsilon: the promises per edge that it is measured at, in words; quick_epsilon: those of a quick run, if others.
    seeds, quick_seeds: of full and of quick runs, in words.
    different: what is done differently from the paper and why, in Markdown. It holds before anything is measured.
    quick: what a quick run leaves out, in words for --help; "" if there is no quick run.
    options: what the caller may choose.
    files: which files of the datasets it reads: social, ratings, or none.
    version: raise it when the experiment changes what it finds.
    resumes: whether finished parts are kept, so that it resumes after an interruption.
    evaluates: the name of `privact evaluate NAME`, where it can be run on other networks than the paper's; "" if it cannot.
    """

    name: str
    title: str
    summary: str
    load: Callable[[], Functions]
    epsilon: str
    seeds: str
    quick_seeds: str
    different: str
    quick: str = ""
    options: tuple[Option, ...] = ()
    files: tuple[str, ...] = ("social",)
    version: int = 1
    quick_epsilon: str = ""
    resumes: bool = True
    evaluates: str = ""

    def run(
        self,
        networks: Networks,
        *,
        quick: bool = False,
        options: Mapping[str, Any] | None = None,
        parts: Path | None = None,
        progress: Progress = ignore_progress,
        name: str = "",
        title: str = "",
    ) -> Findings:
        """Measure, and make the page.

        options: chosen values by name; what is absent or None has the default of a full or a quick run.
        name, title: of the files and the page, if others than the experiment's. Other arguments as in `Task`.
        """
        given = {key: value for key, value in (options or {}).items() if value is not None}
        chosen = {option.name: option.check(given.get(option.name, option.default_of(quick))) for option in self.options}
        measure, write_page = self.load()
        document = measure(Task(networks, quick, chosen, parts, progress))
        return Findings(name or self.name, title or self.title, document, write_page(document).with_undecided_claims())
