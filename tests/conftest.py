"""What all tests share: where the paper's datasets are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--data", metavar="DIR", help="folder with lastfm, delicious and douban (default: PRIVACT_DATA)")


@pytest.fixture(scope="session")
def data_dir(request: pytest.FixtureRequest) -> Path:
    """The folder of the paper's datasets; tests that ask for it are marked `data` and skipped where it is not known."""
    folder = request.config.getoption("--data") or os.environ.get("PRIVACT_DATA")
    if not folder:
        pytest.skip("the paper's datasets are not here: pass --data DIR or set PRIVACT_DATA")
    return Path(folder)
