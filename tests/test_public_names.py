"""privact exports exactly the names that were promised, each documented, and costs nothing until one is used."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import privact
from privact import errors

PROMISED = {
    "read_graph",
    "ContactGraph",
    "PrivaCT",
    "HierarchicalClusterTree",
    "learn_tree",
    "dasgupta_cost",
    "share_of_contacts",
    "score_share_of_contacts",
    "score_negative_loss",
    "WholeGraph",
    "relative_utility",
    "utility_bound",
    "Round",
    "Report",
    "degree_vector",
    "ColdStartRecommender",
    "ContactRecommender",
    "Ratings",
    "read_ratings",
    "OneRoundWarning",
}


def test_exports_are_exactly_the_promised_names_and_the_errors() -> None:
    assert set(privact.__all__) == PROMISED | set(errors.__all__)
    assert len(privact.__all__) == len(set(privact.__all__))
    assert list(privact.__all__) == sorted(privact.__all__)


def test_every_error_class_is_exported() -> None:
    classes = {name for name, value in vars(errors).items() if inspect.isclass(value) and value.__module__ == errors.__name__}
    assert classes == set(errors.__all__)


@pytest.mark.parametrize("name", sorted(PROMISED | set(errors.__all__)))
def test_name_resolves_and_says_what_it_means(name: str) -> None:
    value = getattr(privact, name)
    assert value.__name__ == name
    assert value.__module__.startswith("privact.")
    # A dataclass without a docstring gets its signature as one: that is not a sentence.
    assert value.__doc__
    assert not value.__doc__.startswith(f"{name}(")


@pytest.mark.parametrize("name", sorted(PROMISED))
def test_public_methods_say_what_they_mean(name: str) -> None:
    value = getattr(privact, name)
    members = vars(value).items() if inspect.isclass(value) else ()
    public = [(key, member) for key, member in members if not key.startswith("_")]
    functions = [(key, getattr(member, "__func__", member)) for key, member in public]
    silent = [
        key
        for key, function in functions
        if (inspect.isfunction(function) or isinstance(function, property)) and not function.__doc__
    ]
    assert not silent


def test_names_can_be_listed_and_unknown_ones_are_attribute_errors() -> None:
    assert set(dir(privact)) == set(privact.__all__) | {"__version__"}
    assert privact.__version__[0].isdigit()
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = privact.nothing


def test_importing_the_package_loads_nothing_else() -> None:
    code = "import sys, privact; print([m for m in sys.modules if m.startswith('privact.') or m == 'numpy'])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "['privact.exports']"
