"""Alerts fire when they should and not when it only looks so; each has a page, and each page an alert."""

import re
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from components.observability.alerts import Alert, all_alerts
from tests.components.observability.samples import RUNBOOKS, SETTINGS, groups, groups_for, write
from tests.components.observability.situations import CASES, Case
from tests.support import promtool

ALERTS: Final[dict[str, Alert]] = {alert.name: alert for group in all_alerts(SETTINGS).values() for alert in group}
PAGES: Final = Path(__file__).parents[3] / "docs" / "runbooks"


def _test_of(case: Case) -> dict[str, Any]:
    alert = ALERTS[case.alert]
    expected: list[dict[str, Any]] = []
    if case.labels is not None:
        labels = {"severity": alert.severity, "platform": "slipway", **case.labels}
        annotations = {"summary": case.summary, "runbook_url": f"{RUNBOOKS}/{alert.page}"}
        expected.append({"exp_labels": labels, "exp_annotations": annotations})
    return {
        "name": str(case),
        "interval": "1m",
        "input_series": [
            {"series": series, "values": values if "x" in values else f"{values}+0x{_minutes(case.at)}"}
            for series, values in case.series.items()
        ],
        "alert_rule_test": [{"eval_time": case.at, "alertname": case.alert, "exp_alerts": expected}],
    }


def _minutes(at: str) -> int:
    return int(at[:-1]) * (60 if at.endswith("h") else 1)


@pytest.mark.parametrize("name", ALERTS)
def test_an_alert_fires_and_keeps_still_as_its_cases_say(name: str, tmp_path: Path) -> None:
    cases = [_test_of(case) for case in CASES if case.alert == name]
    file = tmp_path / "test.yaml"
    longest = max(_minutes(case.at) for case in CASES if case.alert == name)
    # Seldom enough to be quick, and often enough for the shortest `for` of those that are looked at late.
    interval = "1m" if longest <= 60 else "5m" if longest <= 600 else "30m"
    rules = groups_for(name)
    content = {
        "rule_files": [str(write(tmp_path / "rules.yaml", rules))],
        "evaluation_interval": interval,
        # Prometheus evaluates groups side by side, and promtool in any order: here records come before alerts.
        "group_eval_order": [group["name"] for group in rules],
        "tests": cases,
    }
    file.write_text(yaml.safe_dump(content))
    found = promtool.run("test", "rules", str(file))
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.parametrize("opencost", [False, True], ids=["list prices", "opencost"])
def test_prometheus_takes_the_rules(opencost: bool, tmp_path: Path) -> None:
    found = promtool.run("check", "rules", str(write(tmp_path / "rules.yaml", groups(opencost=opencost))))
    assert found.returncode == 0, found.stdout + found.stderr


def test_every_alert_has_a_case_in_which_it_fires_and_one_in_which_it_does_not() -> None:
    assert {case.alert for case in CASES if case.labels is not None} == set(ALERTS)
    assert {case.alert for case in CASES if case.labels is None} == set(ALERTS)


def test_every_alert_has_a_page_and_every_page_an_alert() -> None:
    pages = {page.name for page in PAGES.glob("*.md")} - {"README.md"}
    assert pages == {alert.page for alert in ALERTS.values()}


@pytest.mark.parametrize("name", ALERTS)
def test_a_page_says_what_it_means_how_to_look_and_what_to_do(name: str) -> None:
    text = (PAGES / ALERTS[name].page).read_text()
    assert text.startswith(f"# {name}\n")
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert headings == ["Meaning", "Diagnosis", "Mitigation"]
    assert "```bash" in text
    assert len(text.splitlines()) < 60


def test_an_alert_links_to_its_page_or_names_its_path() -> None:
    alert = ALERTS["GpuIdle"]
    assert alert.rule("https://docs.example/r")["annotations"]["runbook_url"] == "https://docs.example/r/gpu-idle.md"
    assert alert.rule(None)["annotations"]["runbook_url"] == "docs/runbooks/gpu-idle.md"


def test_settings_reach_the_alerts() -> None:
    changed = SETTINGS.model_copy(
        update={"gpu_idle_after": "3h", "pending_after": "1h30m", "runaway_after": "1h30m", "checkpoint_every": "90m"}
    )
    found = {alert.name: alert for group in all_alerts(changed).values() for alert in group}
    assert found["GpuIdle"].after == "3h"
    assert found["PodPending"].after == "1h30m"
    assert "> 5400" in found["JobRunaway"].expression
    assert "[90m]" in found["CheckpointNotWritten"].expression
    assert ">= 5400" in found["CheckpointNotWritten"].expression


def test_a_severity_says_how_soon_an_alert_needs_attention() -> None:
    assert {alert.severity for alert in ALERTS.values()} == {"info", "warning", "critical"}
