"""Rules of a sample platform, as files for promtool."""

from pathlib import Path
from typing import Any, Final

import yaml

from components.observability import rules
from components.observability.alerts import all_alerts
from spec.pools import resolve_all
from spec.settings.addons.observability import Alerts
from tests.components.pools.samples import platform
from tests.support.mocks import REGION

SETTINGS: Final = Alerts()
RUNBOOKS: Final = "https://runbooks.example"
POOLS: Final = resolve_all(
    platform(
        {
            "cpu": {"preset": "cpu"},
            "h100": {"preset": "h100", "provisioner": "managed", "zones": [f"{REGION}b"], "efa": True},
            "gpu-spot": {"preset": "gpu-spot"},
        }
    )
)
BUDGETS: Final = {"nlp": 20_000}


def groups(*, opencost: bool = False) -> list[dict[str, Any]]:
    """Recording rules first, then alerts."""
    recorded = rules.records(POOLS, opencost=opencost, budgets=BUDGETS)
    return [*rules.groups_of_records(recorded), *rules.groups_of_alerts(all_alerts(SETTINGS), RUNBOOKS)]


def groups_for(alert: str) -> list[dict[str, Any]]:
    """All recording rules and one alert: promtool evaluates everything in the file at every step."""
    selected = [
        {**group, "rules": [rule for rule in group["rules"] if rule.get("alert", alert) == alert]} for group in groups()
    ]
    return [group for group in selected if group["rules"]]


def write(path: Path, groups: list[dict[str, Any]]) -> Path:
    """Write a rule file."""
    path.write_text(yaml.safe_dump({"groups": groups}))
    return path
