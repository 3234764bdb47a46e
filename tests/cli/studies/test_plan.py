from __future__ import annotations

import json

from typer.testing import CliRunner

from privact.cli.studies.plan import app

LIKE = ["--users", "120", "--contacts", "12", "--communities", "2", "--epsilon", "2"]


def test_it_has_a_row_for_each_epsilon_and_number_of_rounds():
    result = CliRunner().invoke(app, [*LIKE, "--json"], catch_exceptions=False)
    found = json.loads(result.stdout)
    assert [(row["epsilon"], row["rounds"]) for row in found["rows"]] == [(e, r) for e in (1.0, 2.0, 4.0) for r in (1, 4, 5)]
    assert found["simulated"]["users"] == 120
    assert all(0.0 <= row["share_of_contacts"] <= 1.0 for row in found["rows"])
    text = CliRunner().invoke(app, LIKE, catch_exceptions=False).stdout
    for row in found["rows"]:
        assert f"{row['share_of_contacts']:.3f}" in text
    assert "120 users in 2 communities of 60" in text
