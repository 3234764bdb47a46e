"""Scale: the verdict follows from the rows by its rule."""

from __future__ import annotations

import pytest

from privact.experiments.scale.measure import LARGEST, PEER_SIZE
from privact.experiments.scale.page import check_scale


def tree(n, method, utility, status="ok"):
    return {"n": n, "method": method, "workers": 1, "status": status, "relative_utility": utility, "seconds": 2.0}


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        ([tree(PEER_SIZE, "privact", 9.95), tree(PEER_SIZE, "peer", 10.0), tree(LARGEST, "privact", 9.0)], "holds"),
        ([tree(PEER_SIZE, "privact", 9.0), tree(PEER_SIZE, "peer", 10.0), tree(LARGEST, "privact", 9.0)], "holds with a caveat"),
        ([tree(PEER_SIZE, "privact", 9.0)], "holds with a caveat"),
        ([tree(PEER_SIZE, "privact", 9.0), tree(LARGEST, "privact", None, "out of memory")], "does not hold"),
    ],
)
def test_the_verdict_on_scale(rows, verdict):
    assert check_scale(rows).verdict == verdict
