"""privact learn --reports: the reports of a round, from a file or the aggregator's database -> a tree file."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from privact.cli.files import read_labels
from privact.cli.text import facts, number, paragraph, print_json
from privact.cli.trees.learn_options import EngineChoice, open_chosen_engine, tell_balance
from privact.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from privact.learn.evidence.profile import RoundReports
    from privact.learn.pipeline import Learned, LearnSettings

__all__ = ["learn_file", "learn_round", "print_learned"]


def learn_file(
    source: str, labels: Path | None, epsilon: float, label_bins: bool, settings: LearnSettings, choice: EngineChoice
) -> tuple[Learned, int]:
    """Learn the tree of the reports in a file; returns what was learned and the number of workers.

    labels: the public labels that are the bins; columns of reports are in their alphabetical order.
    epsilon: the promise per contact that the reports carry noise for. label_bins: bins are labels, even without their file.
    """
    from privact.learn.pipeline import learn_from_reports
    from privact.progress import progress_bar
    from privact.protocol.promise import public_parameters

    with _scratch(choice) as folder, progress_bar() as progress:
        progress("reading reports", 0, 0)
        reports = _read_file(source, labels, epsilon, label_bins, Path(folder))
        parameters = public_parameters(epsilon, reports.table.matrix.shape[1], reports.equal_bins)
        with open_chosen_engine(choice, len(reports.table)) as engine:
            learned = learn_from_reports(reports, settings, parameters=parameters, engine=engine, progress=progress)
            return learned, engine.workers


def learn_round(
    url: str,
    round_id: str,
    epsilon: float | None,
    label_bins: bool,
    settings: LearnSettings,
    own_profile: bool,
    choice: EngineChoice,
) -> tuple[Learned, int]:
    """Learn the tree of a round in the aggregator's database; returns what was learned and the number of workers.

    epsilon, label_bins: refused where they contradict the round. settings: a random_state of None takes the round's own.
    own_profile: compare users as the round says, not as the settings say.
    """
    try:
        from privact.aggregator.jobs.learning import learn_stored_round, read_stored_table
        from privact.aggregator.storage.stored_reports import read_round
    except ImportError as error:
        raise MissingExtraError(error.name or "sqlalchemy", "server", "reading reports from a database") from None
    from privact.progress import progress_bar

    stored = read_round(url, round_id)
    announced = stored.round
    if epsilon is not None and epsilon != announced.epsilon:
        raise InputError(
            f"--epsilon {epsilon:g} is not the {announced.epsilon:g} of round {round_id!r}: drop it, the database knows"
        )
    if label_bins and announced.bins == "random":
        raise InputError(f"--label-bins, but the bins of round {round_id!r} are random: drop it, the database knows")
    if own_profile:
        settings = replace(settings, profile=stored.profile)
    if settings.random_state is None:
        settings = replace(settings, random_state=stored.search_seed)
    with _scratch(choice) as folder, progress_bar() as progress:
        table = read_stored_table(url, stored, Path(folder) / "reports", progress)
        with open_chosen_engine(choice, len(table)) as engine:
            learned = learn_stored_round(url, stored, table, settings, engine=engine, progress=progress)
            return learned, engine.workers


def print_learned(learned: Learned, workers: int, output: Path, begin: float, json: bool) -> None:
    """Say what was learned and written. begin: when the command started, in seconds of `perf_counter`."""
    from privact.cli.privacy import promise

    parameters = dict(learned.tree.parameters)
    summary = {
        "output": str(output),
        "users": learned.tree.n_users,
        "parameters": parameters,
        "workers": workers,
        "seconds": round(perf_counter() - begin, 3),
    }
    privacy = promise(parameters) or ""
    if json:
        print_json(summary | {"privacy": privacy})
        return
    facts(
        [
            ("users", number(learned.tree.n_users)),
            ("bins", f"{parameters['n_bins']} {'random' if parameters['bins'] == 'random' else 'public labels'}"),
            ("noise", f"epsilon {parameters['epsilon']:g} per contact{', denoised' if parameters['denoise'] else ''}"),
            ("search", f"{parameters['search']}, {tell_balance(parameters)}"),
            ("time", f"{summary['seconds']:.1f} s in all, {workers} worker{'s'[: workers > 1]}"),
            ("written", str(output)),
        ]
    )
    print()
    paragraph(f"Privacy. {privacy}")


def _scratch(choice: EngineChoice) -> tempfile.TemporaryDirectory[str]:
    try:
        return tempfile.TemporaryDirectory(prefix="privact-", dir=choice.scratch)
    except OSError as error:
        raise InputError(f"cannot make a folder in {choice.scratch}: {(error.strerror or str(error)).lower()}") from None


def _read_file(source: str, labels: Path | None, epsilon: float, label_bins: bool, folder: Path) -> RoundReports:
    import numpy as np

    from privact.learn.evidence.profile import RoundReports
    from privact.learn.reports.report_files import read_reports
    from privact.protocol.label_files import number_labels
    from privact.protocol.round import epsilon_per_report

    table = read_reports(source, folder)
    own_labels = None
    if labels is not None:
        users = list(map(str, range(len(table)))) if table.users is None else list(map(str, table.users))
        numbers, n_labels = number_labels(read_labels(labels, users))
        if n_labels != table.matrix.shape[1]:
            raise InputError(
                f"{labels} gives the users {n_labels} labels, but {source} counts in {table.matrix.shape[1]} bins: "
                "give the labels that were the bins"
            )
        own_labels = np.array(numbers, np.int32)
    equal_bins = labels is None and not label_bins
    return RoundReports(table, epsilon_per_report(epsilon), equal_bins, own_labels)
