"""public names -> pages of the Python reference; mkdocstrings fills in signatures and docstrings."""

from __future__ import annotations

from importlib import import_module
from inspect import getdoc
from typing import NamedTuple

import privact
from reference.markdown import cell, table

__all__ = ["PAGES", "Page", "names_page", "package_page"]


class Page(NamedTuple):
    """A page of the Python reference.

    name: of the file, without its ending.
    title: above the page, and in the menu.
    about: what the modules are for.
    modules: whose public names the page describes.
    """

    name: str
    title: str
    about: str
    modules: tuple[str, ...]


PAGES = (
    Page("estimator", "Estimator", "A whole graph in, a private tree out.", ("privact.estimator",)),
    Page(
        "tree",
        "Trees",
        "Vectors -> hierarchical cluster tree, and what it costs.",
        (
            "privact.tree.hct",
            "privact.learn.search.learn_tree",
            "privact.learn.pipeline",
            "privact.tree.cost",
            "privact.learn.placement",
            "privact.learn.evidence.count_posterior",
            "privact.learn.evidence.share_posterior",
            "privact.tree.embedding",
            "privact.learn.scale.engines",
            "privact.learn.reports.report_files",
            "privact.learn.reports.report_table",
            "privact.learn.search.swaps",
            "privact.learn.search.gentree",
            "privact.learn.search.linkage",
        ),
    ),
    Page(
        "query",
        "Queries",
        "Tree + user -> pictures, and how good communities are. Plain questions are methods of the tree itself.",
        ("privact.query.quality",
            "privact.query.link_prediction",
            "privact.drawing.picture",
            "privact.query.explore"),
    ),
    Page(
        "recommend",
        "Recommenders",
        "Tree + ratings -> recommendations. All have one shape: `fit`, `recommend`, `similar_users`.",
        (
            "privact.recommend.recommender",
            "privact.recommend.cold_start.recommender",
            "privact.recommend.cold_start.validation",
            "privact.recommend.cold_start.community_rates",
            "privact.recommend.cold_start.contact_groups",
            "privact.recommend.cold_start.similar_reports",
            "privact.recommend.taste_groups",
            "privact.recommend.data.ratings",
            "privact.recommend.data.read_ratings",
            "privact.recommend.cold_start.community_filter",
            "privact.recommend.popularity",
            "privact.recommend.factors.implicit_factors",
            "privact.recommend.exposure.social_exposure",
            "privact.recommend.exposure.settings",
            "privact.recommend.factors.neighbour_blend",
            "privact.recommend.neighbours",
            "privact.recommend.data.splits",
            "privact.recommend.data.metrics",
            "privact.recommend.cores",
        ),
    ),
    Page(
        "device",
        "Device",
        "Contacts + round -> report. The only package that may see an edge.",
        (
            "privact.device.contacts.read",
            "privact.device.degrees",
            "privact.device.noise",
            "privact.device.ledger.rules",
            "privact.device.ledger.ledger",
            "privact.device.ledger.home",
            "privact.device.answer",
            "privact.client.device_client",
            "privact.device.upload",
            "privact.device.refusals",
        ),
    ),
    Page(
        "protocol",
        "Protocol",
        "What a device and an aggregator agree on.",
        (
            "privact.protocol.round",
            "privact.protocol.report",
            "privact.protocol.bins",
            "privact.protocol.labels",
            "privact.protocol.users",
        ),
    ),
    Page(
        "network",
        "Whole graphs",
        "Files -> whole contact graphs, for experiments only.",
        (
            "privact.network.graph",
            "privact.network.read",
            "privact.simulate.federated_network",
            "privact.simulate.known_graphs",
            "privact.simulate.reports",
            "privact.network.datasets",
        ),
    ),
    Page(
        "baselines",
        "Baselines",
        "Whole graph -> the trees and graphs that the method is judged against.",
        (
            "privact.baselines.cmn",
            "privact.baselines.cmn_dp",
            "privact.baselines.likelihood",
            "privact.baselines.ldpgen",
            "privact.baselines.randomized_response",
            "privact.baselines.linkage_peers",
        ),
    ),
    Page("audit", "Audit", "Mechanism -> empirical bound on what it leaks.", ("privact.audit.epsilon",
            "privact.audit.leakage")),
    Page("errors", "Errors", "What can go wrong.", ("privact.errors",)),
)  # fmt: skip


def home_of(name: str) -> str:
    """The module in which a public name of privact is defined."""
    return str(getattr(privact, name).__module__)


def first_sentence(module: str, name: str) -> str:
    """What a name means, in the first sentence of its docstring."""
    text = getdoc(getattr(import_module(module), name)) or ""
    return " ".join(text.split("\n\n")[0].split()).split(". ")[0].rstrip(".") + "." if text else ""


def names_page() -> str:
    """The page that lists what `from privact import ...` offers, with links to where it is described."""
    page_of = {module: page for page in PAGES for module in page.modules}
    rows = []
    for name in privact.__all__:
        home = home_of(name)
        link = f"[`{name}`]({page_of[home].name}.md#{home}.{name})"
        rows.append((link, cell(first_sentence(home, name))))
    pages = "".join(f"- [{page.title}]({page.name}.md): {page.about}\n" for page in PAGES)
    return (
        "# Python\n\nThe names of `from privact import ...`; a module is loaded when one of its names is first used.\n\n"
        f"{table(('name', 'meaning'), rows)}\nNames of the packages below are imported from the module where they live, as in "
        f"`from privact.recommend.taste_groups import taste_groups`:\n\n{pages}"
    )


def package_page(page: Page) -> str:
    """The page of some modules."""
    return f"# {page.title}\n\n{page.about}\n\n" + "\n".join(f"::: {module}\n" for module in page.modules)
