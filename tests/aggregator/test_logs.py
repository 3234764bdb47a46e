from __future__ import annotations

import io
import json
import logging

import pytest

from privact.aggregator.logs import log_to


@pytest.fixture
def lines():
    root, stream = logging.getLogger(), io.StringIO()
    before = root.handlers[:], root.level, logging.getLogger("privact").level, logging.getLogger("uvicorn").level
    log_to(stream)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    root.handlers[:] = before[0]
    root.setLevel(before[1])
    logging.getLogger("privact").setLevel(before[2])
    logging.getLogger("uvicorn").setLevel(before[3])


def test_a_line_is_one_json_object_with_what_was_passed(lines):
    logging.getLogger("privact.aggregator").info("a round\nclosed", extra={"round": "spring", "count": 3})
    (line,) = lines()
    assert line.pop("time").endswith("Z")
    assert line == {"level": "info", "logger": "privact.aggregator", "message": "a round\nclosed", "round": "spring", "count": 3}


def test_times_are_whole_seconds(lines):
    logging.getLogger("privact").warning("now")
    assert len(lines()[0]["time"]) == len("2026-01-31T12:00:00Z")


def test_only_serious_lines_of_other_libraries_are_kept(lines):
    logging.getLogger("httpx").info("chatter")
    logging.getLogger("privact").debug("detail")
    logging.getLogger("alembic").error("trouble")
    assert [line["message"] for line in lines()] == ["trouble"]


def test_an_exception_is_part_of_its_line_and_a_token_in_it_is_not_shown(lines):
    user, operator = "ab" * 16 + "." + "S" * 43, "operator." + "T" * 43
    try:
        raise ValueError(f"bad header Bearer {user}")
    except ValueError:
        logging.getLogger("privact").exception("failed for %s", operator, extra={"header": user})
    (line,) = lines()
    assert "ValueError: bad header Bearer (token)" in line["exception"]
    assert line["message"] == "failed for (token)"
    assert line["header"] == "(token)"
