"""Alert rules and dashboard: promtool accepts them, and every metric that they name is one of the server's."""

from __future__ import annotations

import json
import re
import subprocess
import urllib.request

import pytest

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
    assert "8 rules found" in checked.stdout


REPORT = 'method="PUT",route="/v1/rounds/{round_id}/report"'
JOB = {"job": "privact"}
ALERTS = {  # what goes wrong after ten minutes, when its alert fires, when it did not yet, and with which labels
    "PrivactDown": (['up{job="privact"} | 1+0x9 0+0x20'], "13m", "11m", {"severity": "page", **JOB}),
    "PrivactReportsWait": (["privact_report_queue | 5+0x9 2000+0x20"], "16m", "14m", {"severity": "page"}),
    "PrivactErrors": (
        ['privact_request_seconds_count{status="200"} | 0+60x40', 'privact_request_seconds_count{status="503"} | 0+0x9 0+6x30'],
        "20m", "9m", {"severity": "page"},
    ),
    "PrivactSlowReports": (
        [
            f'privact_request_seconds_bucket{{{REPORT},le="2.5"}} | 0+60x9 540+0x40',
            f'privact_request_seconds_bucket{{{REPORT},le="5"}} | 0+60x50',
            f'privact_request_seconds_bucket{{{REPORT},le="+Inf"}} | 0+60x50',
        ],
        "30m", "9m", {"severity": "ticket"},
    ),
    "PrivactRefusedReports": (
        [
            'privact_reports_total{outcome="accepted"} | 0+60x9 540+0x60',
            'privact_reports_total{outcome="closed"} | 0+0x9 0+60x60',
        ],
        "50m", "9m", {"severity": "ticket"},
    ),
    "PrivactRoundFailed": (
        ['privact_rounds{state="failed"} | 0+0x9 1+0x20'], "12m", "9m", {"severity": "ticket", "state": "failed"}
    ),
    "PrivactLearningStuck": (
        [
            'privact_rounds{state="learning"} | 0+0x9 1+0x800', 'privact_rounds{state="closed"} | 0+0x809',
            'privact_rounds{state="followed"} | 3+0x809',
        ],
        "12h12m", "12h8m", {"severity": "ticket"},
    ),
    "PrivactFilesRunOut": (
        ['process_open_fds{job="privact"} | 40+0x9 900+0x20', 'process_max_fds{job="privact"} | 1024+0x29'],
        "16m", "14m", {"severity": "page", **JOB},
    ),
}  # fmt: skip


@pytest.mark.parametrize("alert", ALERTS)
def test_an_alert_fires_when_it_should_and_not_before(tmp_path, alert):
    """promtool plays the metrics of a server on which something goes wrong."""
    metrics, late, early, labels = ALERTS[alert]
    series = [{"series": name, "values": values} for name, values in (metric.split(" | ") for metric in metrics)]
    expected = [
        {"eval_time": early, "alertname": alert, "exp_alerts": []},
        {"eval_time": late, "alertname": alert, "exp_alerts": [{"exp_labels": labels, "exp_annotations": {}}]},
    ]
    rules = re.sub(r" *(?:annotations|summary|description):.*\n", "", (DEPLOY / "alerts.yml").read_text())
    (tmp_path / "alerts.yml").write_text(rules)
    case = {"rule_files": ["alerts.yml"], "tests": [{"interval": "1m", "input_series": series, "alert_rule_test": expected}]}
    (tmp_path / "case.yml").write_text(json.dumps(case))
    played = subprocess.run([find_program("promtool"), "test", "rules", tmp_path / "case.yml"], capture_output=True, text=True)
    assert played.returncode == 0, played.stdout + played.stderr


def test_every_alert_was_seen_to_fire():
    assert set(re.findall(r"- alert: (\w+)", (DEPLOY / "alerts.yml").read_text())) == set(ALERTS)


def test_every_metric_that_is_watched_exists(aggregator):
    with_labels = {
        "privact_reports_total",
        "privact_request_seconds_bucket",
        "privact_request_seconds_count",
    }
    known = list_metrics(aggregator) | with_labels
    dashboard = json.loads((DEPLOY / "dashboard.json").read_text())
    shown = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    watched = set(NAMES.findall("\n".join([*shown, (DEPLOY / "alerts.yml").read_text()])))
    assert watched - known == set()
    unwatched = {name for name in known - watched if not name.endswith("_sum")}
    assert unwatched == {"process_virtual_memory_bytes", "process_start_time_seconds"}


def test_the_expressions_of_the_dashboard_are_promql(tmp_path):
    dashboard = json.loads((DEPLOY / "dashboard.json").read_text())
    shown = [target["expr"].replace("$__rate_interval", "5m") for panel in dashboard["panels"] for target in panel["targets"]]
    rules = [{"record": f"shown:{place}", "expr": expression} for place, expression in enumerate(shown)]
    (tmp_path / "rules.yml").write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    checked = subprocess.run([find_program("promtool"), "check", "rules", tmp_path / "rules.yml"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
