from __future__ import annotations

import json
from dataclasses import asdict

import pytest
from typer.testing import CliRunner

from privact.baselines.randomized_response import explain_paper_example, explain_randomized_response
from privact.cli.studies.explain import app
from privact.errors import InputError, ProtocolError


def said(*arguments):
    result = CliRunner().invoke(app, ["randomized-response", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return " ".join(result.stdout.split())


def test_it_says_what_a_user_would_claim():
    text = said("--users", "1000000", "--epsilon", "1")
    found = explain_randomized_response(1_000_000, 1.0, 70)
    assert f"{found.claimed:,.0f} contacts: {found.false_claims:,.0f} false, {found.true_claims:,.0f} true" in text
    assert "1 per contact, so 0.5 for each end's report" in text
    assert "125,000 bytes by each user" in text
    assert "13 counts, 109 bytes by each user" in text


def test_it_puts_the_papers_example_right():
    text = said("--users", "50")
    assert "is said to claim 700,000 contacts" in text
    assert "299,979 of them beside 49 true ones, 300,028 claims in all" in text
    assert "it is false with 99.98%" in text


def test_the_degree_can_be_given():
    assert "one of them has 3 contacts" in said("--users", "50", "--degree", "3")


def test_lines_fit_a_terminal():
    result = CliRunner().invoke(app, ["randomized-response", "--users", "1000000000", "--epsilon", "0.01", "--degree", "5000"])
    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_json_holds_every_number():
    result = CliRunner().invoke(app, ["randomized-response", "--users", "2000", "--epsilon", "2", "--degree", "20", "--json"])
    document = json.loads(result.stdout)
    paper = document.pop("paper_example")
    assert document == pytest.approx(asdict(explain_randomized_response(2000, 2.0, 20)))
    assert paper.pop("claimed_in_paper") == 700_000
    assert paper == pytest.approx(asdict(explain_paper_example()))


def test_help_shows_an_example():
    text = CliRunner().invoke(app, ["randomized-response", "--help"]).stdout
    assert "privact explain randomized-response --users 1000000 --epsilon 1" in text
    assert "randomized-response" in CliRunner().invoke(app, ["--help"]).stdout


def test_impossible_numbers_are_refused():
    with pytest.raises(InputError, match="degree is 50; among 50 users it must be a whole number from 0 to 49"):
        said("--users", "50", "--degree", "50")
    with pytest.raises(ProtocolError, match="epsilon is -1"):
        said("--users", "50", "--epsilon", "-1")
