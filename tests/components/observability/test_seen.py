"""Every query of a dashboard, an alert, an autoscaler and a command finds in Prometheus what its page says.

The series are those of exporters, as Prometheus stores them (`seen.py`). What each query finds is in `found.yaml`;
`python -m tests.components.observability.test_seen` writes it anew, for somebody to read.
"""

import json
import tempfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import pytest

from components.addons.kserve.runtimes import TRITON_ERRORS, VLLM_ERRORS
from components.composition.canary_rollback import query as of_canary
from components.composition.take_back import query as idle_gpus
from components.observability.alerts import all_alerts
from components.observability.dashboards import dashboards
from components.observability.dashboards.panels import Dashboard
from components.observability.recording import NODE_COST
from components.workloads.serving.scaling import Autoscaling, Scaled, queries
from slipway.replay.readers.prometheus import QUERY as REPLAYED
from slipway.statement.recorded import QUERY as STATED
from slipway.verify.metrics import of_metrics
from spec import strict_yaml
from tests.components.observability.samples import SETTINGS, groups
from tests.components.observability.seen import Found, evaluate, growing, stored
from tests.components.observability.test_dashboards import plain
from tests.support import stacks

FOUND: Final = Path(__file__).with_name("found.yaml")


def _of(dashboard: Dashboard) -> Iterator[tuple[str, str]]:
    for variable in dashboard.variables:
        yield f"{dashboard.title}, variable {variable.name}", f"count by ({variable.label}) ({variable.series})"
    for panel in dashboard.panels:
        for number, query in enumerate(panel.queries):
            letter = f" {'ABCDEF'[number]}" if len(panel.queries) > 1 else ""
            yield f"{dashboard.title}: {panel.title}{letter}", plain(query.expression.replace("$__range", "1h"))


def _verified() -> Iterator[tuple[str, str]]:
    """What `slipway verify` asks."""
    asked: list[str] = []

    def get(path: str) -> Any:
        asked.extend(parse_qs(urlsplit(path).query)["query"])
        return {"data": {"result": []}}

    platform = stacks.platform_of("prod")
    for check, query in zip(of_metrics(get, platform, simulated=False), asked, strict=False):
        yield f"verify: {check.what}", query


def expressions() -> dict[str, str]:
    """All of them, by where they are."""
    rules = [rule for group in groups() for rule in group["rules"] if "record" in rule]
    found = {f"record {rule['record']}": f"count({rule['record']})" for rule in rules}
    (measured,) = (
        rule["expr"] for group in groups(opencost=True) for rule in group["rules"] if rule.get("record") == NODE_COST
    )
    found[f"record {NODE_COST} with OpenCost"] = measured
    for alerts in all_alerts(SETTINGS).values():
        found |= {f"alert {alert.name}": alert.expression for alert in alerts}
    for dashboard in dashboards():
        found |= dict(_of(dashboard))
    for settings, deployment, mig in (
        (Autoscaling(), "chat-predictor", False),
        (Autoscaling(waiting=None), "small", True),
    ):
        scaled = Scaled(namespace="vision", deployment=deployment, mig=mig)
        found |= {
            f"autoscaler of {deployment}: {name}": query for name, (query, _) in queries(settings, scaled).items()
        }
    found |= dict(_verified())
    found["idle GPUs"] = idle_gpus(timedelta(minutes=1))
    canaries = {"chat-predictor-7d4b9c6f5-x2x9z": VLLM_ERRORS, "detect-predictor-5c9d8b7f6-q9w8z": TRITON_ERRORS}
    for pod, errors in canaries.items():
        for kind, selectors in {"failed": errors.failed[:1], "answered": errors.answered}.items():
            found |= {f"canary {pod}, {kind}: {one}": of_canary(one, "vision", [pod], 300) for one in selectors}
    for name, query in (("replay", REPLAYED), ("statement", STATED)):
        found[f"slipway {name}"] = f"count by (__name__) ({query})"
    return found


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Found]:
    folder = tmp_path_factory.mktemp("seen")
    return evaluate(growing(stored(folder)), expressions(), folder)


def test_each_query_finds_what_its_page_says(found: dict[str, Found]) -> None:
    assert found == strict_yaml.read(FOUND.read_text(encoding="utf-8"))


def test_every_query_finds_something(found: dict[str, Found]) -> None:
    assert [name for name, samples in found.items() if not samples] == []


def test_a_counter_counts_from_zero_if_it_began_within_the_window(tmp_path: Path) -> None:
    """That of a status exists only since the first answer with it; `increase` alone finds 6 and, with one sample, 0."""
    began = {"one": "_x117 7+3x2", "two": "_x119 9", "old": "100+2x120", "gone": "50x110 stale"}
    series = [{"series": f'a_total{{namespace="v",pod="{pod}"}}', "values": text} for pod, text in began.items()]
    expressions = {pod: of_canary("a_total", "v", [pod], 300) for pod in began}
    assert evaluate(series, expressions, tmp_path) == {
        "one": {"{}": 13},
        "two": {"{}": 9},
        "old": {"{}": 10},
        "gone": {},
    }


def _record() -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = evaluate(growing(stored(Path(folder))), expressions(), Path(folder))
    lines = [
        "# What each query finds in seen.yaml. Written by `python -m tests.components.observability.test_seen`.",
        "",
    ]
    for name, samples in found.items():
        each = [f"'{labels}': {value:g}" for labels, value in sorted(samples.items())]
        key = f"{json.dumps(name)}:"
        lines += [key, *(f"  {one}" for one in each)] if len(each) > 1 else [f"{key} {{{''.join(each)}}}"]
    FOUND.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    _record()
