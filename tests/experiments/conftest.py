"""What several experiments are tested with: a folder laid out like the datasets, contacts alone."""

from __future__ import annotations

import gzip

import pytest

from privact.simulate.federated_network import make_federated_network


@pytest.fixture(scope="session")
def contacts_only(tmp_path_factory) -> str:
    """Three small made-up networks under the names of the datasets, without ratings."""
    folder = tmp_path_factory.mktemp("data")
    for seed, name in enumerate(("lastfm", "delicious", "douban")):
        (folder / name).mkdir()
        edges = make_federated_network(100, branching=(3, 2), mean_degree=8.0, random_state=seed).graph.edges()
        with gzip.open(folder / name / "social.tsv.gz", "wt") as file:
            file.writelines(f"{a}\t{b}\n" for a, b in [("user", "friend"), *edges.tolist()])
    return str(folder)
