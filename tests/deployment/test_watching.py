"""Alert rules and dashboard: promtool accepts them, and every metric that they name is one of the server's."""

from __future__ import annotations

import json
import re
import subprocess
import urllib.request

from deployment.proxies import DEPLOY, find_program

NAMES = re.compile(r"\b(?:privact|process)_[a-z_]+\b")


def list_metrics(aggregator) -> set[str]:
    with urllib.request.urlopen(f"{aggregator.url}/metrics") as response:
        return {re.split(r"[{ ]", line)[0] for line in response.read().decode().splitlines() if not line.startswith("#")}


def test_promtool_accepts_the_configuration_and_its_rules():
    checked = subprocess.run(
        [find_program("promtool"), "check", "config", DEPLOY / "prometheus.yml"], capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "7 rules found" in checked.stdout


def test_an_alert_fires_when_it_should_and_not_before(tmp_path):
    """promtool plays a server that goes away after five minutes, and a round that fails."""
    series = [
        {"series": 'up{job="privact"}', "values": "1+0x5 0+0x10"},
        {"series": 'privact_rounds{state="failed"}', "values": "0+0x5 1+0x10"},
    ]
    expected = [
        {"eval_time": "4m", "alertname": "PrivactDown", "exp_alerts": []},
        {"eval_time": "4m", "alertname": "PrivactRoundFailed", "exp_alerts": []},
    ]
    for alert, severity, labels in (
        ("PrivactDown", "page", {"job": "privact"}),
        ("PrivactRoundFailed", "ticket", {"state": "failed"}),
    ):
        expected.append(
            {
                "eval_time": "12m",
                "alertname": alert,
                "exp_alerts": [{"exp_labels": {"severity": severity, **labels}, "exp_annotations": {}}],
            }
        )
    rules = re.sub(r" *(?:annotations|summary|description):.*\n", "", (DEPLOY / "alerts.yml").read_text())
    (tmp_path / "alerts.yml").write_text(rules)
    case = {"rule_files": ["alerts.yml"], "tests": [{"interval": "1m", "input_series": series, "alert_rule_test": expected}]}
    (tmp_path / "case.yml").write_text(json.dumps(case))
    played = subprocess.run([find_program("promtool"), "test", "rules", tmp_path / "case.yml"], capture_output=True, text=True)
    assert played.returncode == 0, played.stdout + played.stderr


def test_every_metric_that_is_watched_exists(aggregator):
    with_labels = {
        "privact_reports_total",
        "privact_request_seconds_bucket",
        "privact_request_seconds_count",
    }
    known = list_metrics(aggregator) | with_labels
    dashboard = json.loads((DEPLOY / "dashboard.json").read_text())
    shown = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    for expression in [*shown, (DEPLOY / "alerts.yml").read_text()]:
        assert set(NAMES.findall(expression)) - known == set()


def test_the_expressions_of_the_dashboard_are_promql(tmp_path):
    dashboard = json.loads((DEPLOY / "dashboard.json").read_text())
    shown = [target["expr"].replace("$__rate_interval", "5m") for panel in dashboard["panels"] for target in panel["targets"]]
    rules = [{"record": f"shown:{place}", "expr": expression} for place, expression in enumerate(shown)]
    (tmp_path / "rules.yml").write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    checked = subprocess.run([find_program("promtool"), "check", "rules", tmp_path / "rules.yml"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
