"""public names -> pages of the Python reference; mkdocstrings fills in signatures and docstrings."""

from __future__ import annotations

from importlib import import_module
from inspect import getdoc
from typing import NamedTuple

import privact
from reference.markdown import cell, table

__all__ = ["PAGES", "Page", "names_page", "package_page", "page_of", "public_names"]


class Page(NamedTuple):
    """A page of the Python reference.

    name: of the file, without its ending.
    title: above the page, and in the menu.
    about: what the package is for.
    module: the package or module whose `__all__` the page describes.
    """

    name: str
    title: str
    about: str
    module: str


PAGES = (
    Page("estimator", "Estimator", "A whole graph in, a private tree out.", "privact.estimator"),
    Page("measures", "Measures", "How good a tree is on a known network, and scorers for model selection.", "privact.measures"),
    Page("tree", "Trees", "The hierarchical cluster tree, its cost and its file formats.", "privact.tree"),
    Page("learn", "Learning", "Reports -> hierarchical cluster tree.", "privact.learn"),
    Page(
        "query",
        "Queries",
        "Tree + user -> communities, nearest users, and how good they are. Plain questions are methods of the tree itself.",
        "privact.query",
    ),
    Page("drawing", "Pictures", "Tree -> pictures, and the page of the explorer.", "privact.drawing"),
    Page(
        "recommend",
        "Recommenders",
        "Tree + ratings -> recommendations. All have one shape: `fit`, `recommend`, `similar_users`.",
        "privact.recommend",
    ),
    Page("device", "Device", "Contacts + round -> report. The only package that may see an edge.", "privact.device"),
    Page("client", "Clients", "Requests to an aggregator, for devices and for operators.", "privact.client"),
    Page(
        "aggregator",
        "Aggregator",
        "Reports -> closed round -> released tree: the server, as an application.",
        "privact.aggregator",
    ),
    Page("protocol", "Protocol", "What a device and an aggregator agree on.", "privact.protocol"),
    Page("network", "Whole graphs", "Files -> whole contact graphs, for experiments only.", "privact.network"),
    Page("simulate", "Simulation", "Synthetic networks and devices, for experiments, tests and the demo.", "privact.simulate"),
    Page("baselines", "Baselines", "Whole graph -> the trees and graphs that the method is compared with.", "privact.baselines"),
    Page("experiments", "Experiments", "Data + methods -> the tables and figures of the paper, and ours.", "privact.experiments"),
    Page("bench", "Benchmarks", "The product -> time, memory and quality, beside its peers.", "privact.bench"),
    Page("audit", "Audit", "Mechanism -> empirical bound on what it leaks.", "privact.audit"),
    Page("errors", "Errors", "What can go wrong.", "privact.errors"),
)


def public_names(page: Page) -> list[str]:
    """The public names of a page's package, in the order of the page."""
    return sorted(import_module(page.module).__all__)


def page_of(name: str) -> Page:
    """The page that describes a name of `from privact import ...`."""
    value = getattr(privact, name)
    return next(page for page in PAGES if name in public_names(page) and getattr(import_module(page.module), name) is value)


def first_sentence(module: str, name: str) -> str:
    """What a name means, in the first sentence of its docstring."""
    text = getdoc(getattr(import_module(module), name)) or ""
    return " ".join(text.split("\n\n")[0].split()).split(". ")[0].rstrip(".") + "." if text else ""


def names_page() -> str:
    """The page that lists what `from privact import ...` offers, with links to where it is described."""
    rows = []
    for name in (name for name in dir(privact) if name != "__version__"):
        page = page_of(name)
        link = f"[`{name}`]({page.name}.md#{page.module}.{name})"
        rows.append((link, cell(first_sentence(page.module, name))))
    pages = "".join(f"- [{page.title}]({page.name}.md): `{page.module}`. {page.about}\n" for page in PAGES)
    return (
        "# Python\n\nThe names of `from privact import ...`; a module is loaded when one of its names is first used.\n\n"
        f"{table(('name', 'meaning'), rows)}\nEach package exports its own public names, as in "
        f"`from privact.recommend import find_taste_groups`:\n\n{pages}"
    )


def package_page(page: Page) -> str:
    """The page of a package."""
    names = "\n".join(f"::: {page.module}.{name}\n" for name in public_names(page))
    return f"# {page.title}\n\n{page.about}\n\n{names}"
