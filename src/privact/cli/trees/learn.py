"""privact learn: a whole contact graph, every device simulated, or the reports of a round -> a tree file."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privact.cli.files import check_output, read_labels
from privact.cli.text import Json, facts, number, paragraph, print_json
from privact.cli.trees.learn_options import (
    Balance,
    Cluster,
    EngineChoice,
    EvidenceFile,
    ProfileName,
    RoundName,
    Scratch,
    SearchName,
    Source,
    Workers,
    open_chosen_engine,
    tell_balance,
)  # fmt: skip
from privact.cli.trees.learn_reports import learn_file, learn_round, print_learned
from privact.cli.trees.learn_streamed import choose_streaming, learn_streamed
from privact.learn.evidence.profiles import DEFAULT_PROFILE, PROFILES
from privact.learn.limits import LIMITS
from privact.learn.search.searches import DEFAULT_SEARCH

if TYPE_CHECKING:
    from privact.estimator import PrivaCT
    from privact.learn.pipeline import LearnSettings
    from privact.network.graph import ContactGraph
    from privact.network.streamed_degrees import StreamedDegrees
    from privact.progress import Progress

__all__ = ["app"]

app = typer.Typer()

_SEEDED = (
    "With --seed the noise can be drawn again by whoever guesses the seed: for experiments on contacts that are public anyway."
)


@app.command(
    epilog="\b\nExample:\n  privact learn contacts.tsv --epsilon 1 -o tree.hct\n"
    "  privact learn contacts.tsv --epsilon 2 --labels servers.tsv -o tree.hct\n"
    "  privact learn --reports reports.parquet --epsilon 1 -o tree.hct"
)
def learn(
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="The tree file to write; a file of that name is replaced.", metavar="FILE", show_default=False
        ),
    ],
    graph: Annotated[
        Path | None,
        typer.Argument(metavar="GRAPH", help="Contacts: an edge list, GraphML, GML or MatrixMarket file.", show_default=False),
    ] = None,
    reports: Source = None,
    round_id: RoundName = None,
    epsilon: Annotated[
        float | None, typer.Option(help="The privacy promise per contact; smaller is more private.", show_default="1")
    ] = None,
    no_noise: Annotated[bool, typer.Option("--no-noise", help="No noise and no privacy, for comparison.")] = False,
    bins: Annotated[int | None, typer.Option(help="How many random bins.", show_default="floor(ln users)")] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            help="Bins that mean something: a public label of each user, such as the home server; lines 'user<TAB>label'.",
            metavar="FILE",
        ),
    ] = None,
    rounds: Annotated[
        int,
        typer.Option(
            help="Rounds that share epsilon: in a series the groups found so far are the bins of the next round, "
            "so it finds communities without labels.",
            min=1,
        ),
    ] = 1,
    profile: ProfileName = None,
    search: SearchName = DEFAULT_SEARCH,
    sweeps: Annotated[int | None, typer.Option(help="Length of the search.", show_default="until the gain is small")] = None,
    temperature: Annotated[str | None, typer.Option(help="Of the chain: a number, or HOT,COLD.")] = None,
    balance: Balance = None,
    no_denoise: Annotated[bool, typer.Option("--no-denoise", help="Take noisy counts as they are, as the paper does.")] = False,
    largest_component: Annotated[bool, typer.Option("--largest-component", help="Only the largest connected part.")] = False,
    label_bins: Annotated[
        bool, typer.Option("--label-bins", help="With --reports from a file: its bins are public labels, not random.")
    ] = False,
    stream: Annotated[
        bool | None,
        typer.Option("--stream/--no-stream", help="Count an edge list in little memory.", show_default="from 256 MB on"),
    ] = None,
    evidence: EvidenceFile = None,
    write_reports_to: Annotated[
        Path | None,
        typer.Option(
            "--write-reports",
            metavar="FILE",
            help="Also write the reports of the simulated devices, to a .parquet or .npy file that --reports reads.",
        ),
    ] = None,
    workers: Workers = None,
    cluster: Cluster = None,
    scratch: Scratch = None,
    seed: Annotated[int | None, typer.Option(help="Decides everything, the noise too.", show_default="a new one")] = None,
    json: Json = False,
) -> None:
    """Learn a cluster tree from contacts, or from reports.

    With --reports, from what the devices of a round have sent: --epsilon then says which promise their noise keeps, and no
    noise is added. The tree is the same wherever it is learned: in this process, in several, or on a cluster.

    With a graph, for research: every device is simulated, so who has a whole graph can try what a round of devices would give.
    The file holds the tree, the user ids and the public parameters: nothing else that was computed from contacts, and not the
    seed of the noise.
    """
    from privact.errors import InputError
    from privact.learn.reports.report_files import check_reports_path, write_reports
    from privact.protocol.round import epsilon_per_report

    if no_noise and epsilon is not None:
        raise InputError(f"--epsilon {epsilon:g} and --no-noise exclude each other: drop one")
    if labels is not None and bins is not None:
        raise InputError(f"--bins {bins} and --labels {labels} exclude each other: there are as many bins as labels")
    if seed is not None and seed < 0:
        raise InputError(f"--seed {seed} is below 0: give a whole number of at least 0")
    promise_per_edge = None if no_noise else (1.0 if epsilon is None else epsilon)
    if promise_per_edge is not None:
        epsilon_per_report(promise_per_edge)  # refused before the graph is read
    check_output(output)
    if evidence is not None:
        check_output(evidence)
    if write_reports_to is not None:
        check_reports_path(check_output(write_reports_to))
    if (graph is None) == (reports is None):
        raise InputError("give either a graph of contacts or --reports, for example: privact learn contacts.tsv -o tree.hct")

    from privact.learn.evidence.evidence_file import write_evidence
    from privact.learn.pipeline import LearnSettings
    from privact.learn.search.learn_tree import choose_balance
    from privact.progress import progress_bar

    settings = LearnSettings(profile or DEFAULT_PROFILE, not no_denoise, search, sweeps, _temperature(temperature), balance, seed)
    choose_balance(balance, search, settings.temperature)  # refused before the graph is read
    choice = EngineChoice(workers, cluster, scratch)
    begin = perf_counter()
    if reports is not None:
        graph_only = {
            "--no-noise": no_noise,
            "--bins": bins is not None,
            "--largest-component": largest_component,
            "--rounds": rounds > 1,
            "--write-reports": write_reports_to is not None,
            "--stream": stream is not None,
        }
        for option, given in graph_only.items():
            if given:
                raise InputError(f"{option} goes with a graph of contacts, not with --reports: drop one")
        if "://" in reports:
            if round_id is None:
                raise InputError(f"--reports {reports} is a database and holds many rounds: name one with --round")
            if labels is not None:
                raise InputError(f"--labels {labels} goes with reports in a file: drop it, the database knows the labels")
            learned, used = learn_round(reports, round_id, epsilon, label_bins, settings, profile is None, choice)
        else:
            if round_id is not None:
                raise InputError(
                    f"--round {round_id} goes with a database, but --reports {reports} is a file: drop it, or give a URL"
                )
            if epsilon is None:
                raise InputError(f"--reports {reports} needs --epsilon, the promise per contact that the reports carry noise for")
            learned, used = learn_file(reports, labels, epsilon, label_bins, settings, choice)
        learned.tree.save(output)
        if evidence is not None:
            write_evidence(learned.evidence, evidence)
        print_learned(learned, used, output, begin, json)
        return
    assert graph is not None
    if stream and (largest_component or rounds > 1 or write_reports_to is not None):
        other = "--largest-component" if largest_component else f"--rounds {rounds}" if rounds > 1 else "--write-reports"
        raise InputError(f"--stream and {other} exclude each other: the whole graph is needed in memory, drop one")
    for option, value in (("--round", round_id), ("--label-bins", label_bins)):
        if value:
            raise InputError(f"{option} goes with --reports, not with a graph of contacts: drop one")
    contacts: StreamedDegrees | ContactGraph
    series: dict[str, Any] = {}
    with progress_bar() as progress:
        if choose_streaming(graph, stream) and not largest_component and rounds == 1 and write_reports_to is None:
            made = learn_streamed(graph, labels, promise_per_edge, bins, settings, choice, progress)
            tree, found, contacts, utility = made.learned.tree, made.learned.evidence, made.contacts, None
            unlabelled, seconds = made.users_without_label, perf_counter() - begin
        else:
            model, network, unlabelled = _learn_graph(
                graph, largest_component, labels, promise_per_edge, bins, rounds, settings, choice, progress
            )
            tree, found, contacts, seconds = model.tree_, model.evidence_, network, perf_counter() - begin
            utility = _utility(model, network)
            if write_reports_to is not None:
                write_reports(write_reports_to, network.names, model.reports_)
            if rounds > 1:
                series = {
                    "rounds": rounds,
                    "groups": len(set(model.groups_.tolist())),
                    "sees_communities": model.sees_communities_,
                }
        tree.save(output)
        if evidence is not None:
            write_evidence(found, evidence)
    summary = {
        "output": str(output),
        "reports": None if write_reports_to is None else str(write_reports_to),
        "users": tree.n_users,
        "contacts": contacts.n_edges,
        "dropped_duplicates": contacts.dropped_duplicates,
        "dropped_self_loops": contacts.dropped_self_loops,
        "users_without_label": unlabelled,
        "parameters": dict(tree.parameters),
        "relative_utility": utility,
        "seconds": round(seconds, 3),
        **series,
    }
    _report(summary, seed is not None, json)


def _learn_graph(
    path: Path,
    largest_component: bool,
    labels: Path | None,
    epsilon: float | None,
    bins: int | None,
    rounds: int,
    settings: LearnSettings,
    choice: EngineChoice,
    progress: Progress,
) -> tuple[PrivaCT, ContactGraph, int]:
    """Play every device of a graph in memory; returns the fitted model, the graph and the number of users without a label."""
    from privact.estimator import PrivaCT
    from privact.network.graph_files import read_graph
    from privact.protocol.label_files import number_labels

    progress("reading contacts", 0, 0)
    contacts = read_graph(path, largest_component=largest_component)
    named = None if labels is None else read_labels(labels, contacts.names)
    learner = PrivaCT(
        epsilon=epsilon,
        n_bins=bins,
        bins="random" if named is None else number_labels(named)[0],
        denoise=settings.denoise,
        profile=settings.profile,
        search=settings.search,
        sweeps=settings.sweeps,
        temperature=settings.temperature,
        balance=settings.balance,
        random_state=settings.random_state,
        rounds=rounds,
    )
    with open_chosen_engine(choice, contacts.n_users) as engine, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the summary says what a series does not see
        model = learner.fit(contacts, progress=progress, engine=engine)
    return model, contacts, 0 if named is None else sum(label is None for label in named)


def _report(summary: dict[str, Any], seeded: bool, json: bool) -> None:
    from privact.cli.privacy import SIMULATED, promise
    from privact.learn.evidence.series_profile import SEES_NOTHING
    from privact.query.one_round import ONE_ROUND, is_one_round

    parameters = summary["parameters"]
    noisy = "epsilon" in parameters
    privacy = " ".join([promise(parameters) or "", *([SIMULATED] if noisy else []), *([_SEEDED] if noisy and seeded else [])])
    if json:
        print_json(summary | {"privacy": privacy})
        return
    unlabelled = summary["users_without_label"]
    noise = f"epsilon {parameters['epsilon']:g} per contact" if noisy else "none"
    rows = [
        ("users", number(summary["users"])),
        ("contacts", number(summary["contacts"])),
        ("dropped", f"{summary['dropped_duplicates']:,} named again, {summary['dropped_self_loops']:,} with oneself"),
        ("bins", f"{parameters['n_bins']} {'random' if parameters['bins'] == 'random' else 'public labels'}"),
        ("noise", f"{noise}{', denoised' if noisy and parameters['denoise'] else ''}"),
        ("compared", PROFILES[parameters.get("profile", DEFAULT_PROFILE)].description),
        ("search", f"{parameters['search']}, {tell_balance(parameters)}, {summary['seconds']:.1f} s in all"),
    ]
    if "rounds" in summary:
        seen = f"{summary['groups']} groups of users found" if summary["sees_communities"] else SEES_NOTHING
        rows.insert(3, ("rounds", f"{summary['rounds']} that share epsilon: {seen}"))
    if unlabelled:
        rows.insert(4, ("", f"{unlabelled:,} users have no label and are counted in no bin"))
    if summary["relative_utility"] is not None:
        told = f"{summary['relative_utility']:.4g} on the exact counts, which only a simulation knows; not in the file"
        rows.append(("utility", told))
    rows.append(("written", summary["output"]))
    if summary["reports"] is not None:
        rows.append(("", f"{summary['reports']}, the reports"))
    facts(rows)
    print()
    paragraph(f"Privacy. {privacy}")
    if is_one_round(parameters):
        print(f"warning: {ONE_ROUND} (--rounds 4 or --labels)", file=sys.stderr)


def _temperature(text: str | None) -> float | tuple[float, ...] | None:
    """One number, or hot and cold."""
    from privact.errors import InputError

    if text is None:
        return None
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        numbers = ()
    if len(numbers) not in (1, 2):
        raise InputError(f"--temperature {text} is neither a number nor HOT,COLD: give for example 1 or 1e6,1")
    return numbers[0] if len(numbers) == 1 else numbers


def _utility(model: PrivaCT, graph: ContactGraph) -> float | None:
    """Relative utility on the exact counts, or None for very many users."""
    from privact.simulate.reports import degree_vectors
    from privact.tree.cost import relative_utility

    if graph.n_users > LIMITS.utility:
        return None
    return relative_utility(model.tree_, degree_vectors(graph, model.bins_, model.n_bins_))
