"""Dashboards: every query parses and uses existing series, and the JSON has Grafana's shape."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal, get_args

import promql_parser
import pytest

from components.observability.dashboards import LABEL, dashboards, manifests
from components.observability.dashboards.panels import COLUMNS, Dashboard, Panel, Query, Unit, places
from components.observability.monitors import SCRAPED_BY, scrape_class
from policies.checks.promql import counted_twice
from spec.catalog.metrics import replicated_gauges
from tests.components.observability.samples import groups
from tests.components.observability.seen import lines
from tests.support.cases import beside

CASES: Final = beside(__file__)

RECORDED: Final = {rule["record"] for group in groups() for rule in group["rules"] if "record" in rule}
ALERTING: Final = [rule["expr"] for group in groups() for rule in group["rules"]]
FOREIGN: Final = {series.partition("{")[0] for series, _, _ in lines()} | {"up"}
"""Metrics of exporters, as they serve them; a name that isn't here is misspelled or was never seen."""


def queries(dashboard: Dashboard) -> Iterator[tuple[str, str]]:
    """Title and expression of every query."""
    for panel in dashboard.panels:
        for query in panel.queries:
            yield panel.title, query.expression


def plain(expression: str) -> str:
    """The expression with variables replaced, as Grafana sends it."""
    filled = expression.replace("$__range", "7d").replace("$__rate_interval", "5m")
    return re.sub(r"\$\w+", ".*", filled)


def _metrics(expression: str) -> set[str]:
    """Names of all series in an expression."""
    names: set[str] = set()

    def visit(node: Any) -> None:
        for selector in (node, getattr(node, "vector_selector", None)):
            if isinstance(selector, promql_parser.VectorSelector):
                names.add(str(selector.name))
        for name in ("expr", "lhs", "rhs", "param"):
            child = getattr(node, name, None)
            if isinstance(child, promql_parser.Expr):
                visit(child)
        for child in getattr(node, "args", None) or ():
            visit(child)

    visit(promql_parser.parse(expression))
    return names


@pytest.mark.parametrize("dashboard", dashboards(), ids=lambda dashboard: dashboard.uid)
def test_every_query_parses_and_uses_known_series(dashboard: Dashboard) -> None:
    for title, expression in queries(dashboard):
        names = _metrics(plain(expression))
        assert names, (title, expression)
        assert names <= RECORDED | FOREIGN, (title, names - RECORDED - FOREIGN)


def test_every_rule_uses_known_series() -> None:
    for expression in ALERTING:
        assert _metrics(expression) <= RECORDED | FOREIGN, _metrics(expression) - RECORDED - FOREIGN


OF_TEAMS: Final = {
    name for name in FOREIGN if name.startswith(("nv_", "request_predict_", "slipway_checkpoint", "vllm:"))
}
"""What pods of teams export, under their own namespace; `up` is Prometheus' own."""


def kept(namespace: str, metric: str) -> bool:
    """Whether Prometheus stores a sample of a target, by the default scrape class."""
    scrape = scrape_class()
    labels = {"__meta_kubernetes_namespace": namespace, "__name__": metric}
    for one in scrape["relabelings"]:
        source = ";".join(labels.get(name, "") for name in one.get("sourceLabels", ()))
        if re.fullmatch(one.get("regex", "(.*)"), source):
            labels[one["targetLabel"]] = one["replacement"]
    dropped, forgotten = scrape["metricRelabelings"]
    assert forgotten == {"regex": SCRAPED_BY, "action": "labeldrop"}
    assert dropped["action"] == "drop"
    return not re.fullmatch(dropped["regex"], ";".join(labels[name] for name in dropped["sourceLabels"]))


def test_a_team_exports_none_of_the_metrics_that_count() -> None:
    """Every name in a rule, an alert or a dashboard, rendered with and without OpenCost."""
    read = {name for group in groups(opencost=True) for rule in group["rules"] for name in _metrics(rule["expr"])}
    read |= {name for expression in ALERTING for name in _metrics(expression)}
    for dashboard in dashboards():
        read |= {name for _, expression in queries(dashboard) for name in _metrics(plain(expression))}
    assert len(read) > 40
    of_platform = read - OF_TEAMS - {"up"}
    assert {name for name in of_platform | RECORDED if kept("vision", name)} == set()
    assert {name for name in of_platform if not kept("monitoring", name) or not kept("kube-system", name)} == set()
    assert {name for name in OF_TEAMS if not kept("vision", name)} == set()


def test_a_misspelled_metric_is_found() -> None:
    assert _metrics("sum(rate(kueue_pending_workload[5m])) / sum(up)") == {"kueue_pending_workload", "up"}
    with pytest.raises(ValueError, match="parenthesis"):
        promql_parser.parse("sum by (team (up)")


def test_dcgm_metrics_are_exported_by_default(shared: Path) -> None:
    lines = (shared / "charts" / "dcgm-exporter" / "default-counters.csv").read_text().splitlines()
    exported = {line.split(",")[0].strip() for line in lines if line and not line.startswith("#")}
    assert {name for name in FOREIGN if name.startswith("DCGM")} <= exported


@pytest.mark.parametrize("dashboard", dashboards(), ids=lambda dashboard: dashboard.uid)
def test_the_json_has_grafanas_shape(dashboard: Dashboard) -> None:
    model = json.loads(dashboard.render())
    assert model["uid"] == dashboard.uid
    assert model["schemaVersion"] >= 39
    assert {panel.unit for panel in dashboard.panels} <= set(get_args(Unit))
    assert "id" not in model
    names = {variable["name"] for variable in model["templating"]["list"]}
    for panel in model["panels"]:
        place = panel["gridPos"]
        assert place["x"] >= 0
        assert place["x"] + place["w"] <= COLUMNS
        assert panel["type"] in {"timeseries", "stat", "table", "bargauge"}
        assert panel["fieldConfig"]["defaults"]["unit"]
        assert panel["datasource"] == {"type": "prometheus", "uid": "prometheus"}
        assert [target["refId"] for target in panel["targets"]] == [*"ABCDEF"][: len(panel["targets"])]
        for target in panel["targets"]:
            used = set(re.findall(r"\$(?!__)(\w+)", target["expr"]))
            assert used <= names, (panel["title"], used)
            assert target["instant"] != target["range"]
    assert len({panel["id"] for panel in model["panels"]}) == len(model["panels"])
    assert len({panel["title"] for panel in model["panels"]}) == len(model["panels"])


def test_panels_do_not_overlap() -> None:
    query = [Query(expression="up", legend="")]
    panels = [Panel(title=str(width), queries=query, width=width) for width in (12, 6, 6, 8, 20)]
    assert [(place.x, place.y) for place in places(panels)] == [(0, 0), (12, 0), (18, 0), (0, 8), (0, 16)]


def test_a_dashboard_is_deterministic_and_fits_a_config_map() -> None:
    for manifest, again in zip(manifests("m").values(), manifests("m").values(), strict=True):
        assert manifest == again
        assert manifest["metadata"]["labels"] == {LABEL: "1"}
        # The size limit of annotations of Helm and kubectl.
        assert sum(map(len, manifest["data"].values())) < 256 * 1024


def test_each_topic_has_a_dashboard() -> None:
    by_uid = {dashboard.uid: {panel.title for panel in dashboard.panels} for dashboard in dashboards()}
    assert {f"Utilization by {what}" for what in ("team", "pool", "job")} <= by_uid["slipway-gpus"]
    assert {"By team", "By pool", "By project"} <= by_uid["slipway-cost"]
    assert by_uid.keys() == {f"slipway-{topic}" for topic in ("gpus", "queues", "cost", "serving", "sizing")}


# Gauges of a controller with several replicas are counted once, in every expression: alerts, records, dashboards.
#
# Each replica of such a controller exports its own copy of a gauge; a sum over the copies is a multiple of the truth.
# Counters and histograms may be summed: only the replica that does the work increments them.


Kind = Literal["counter", "gauge", "histogram"]

REPLICATED: Final = ("certmanager_", "karpenter_", "keda_", "kueue_", "lws_", "mlflow_")
"""Prefixes of the metrics of controllers that run several replicas. Others have one source for each series: the kubelet
and the exporters of a node, a pod's own process, and kube-state-metrics, of which the chart runs one."""

KINDS: Final[dict[str, Kind]] = CASES["kinds of metrics of replicated controllers"]


def _expressions() -> Iterator[tuple[str, str]]:
    for group in groups():
        for rule in group["rules"]:
            yield str(rule.get("alert") or rule.get("record")), rule["expr"]
    for dashboard in dashboards():
        for title, expression in queries(dashboard):
            yield f"{dashboard.uid}: {title}", plain(expression)


def test_every_metric_of_a_replicated_controller_has_a_kind() -> None:
    assert {name for name in FOREIGN if name.startswith(REPLICATED)} == set(KINDS)


def test_the_catalog_has_every_gauge_of_a_replicated_controller_and_nothing_else() -> None:
    assert {name: name in replicated_gauges() for name in KINDS} == {
        name: kind == "gauge" for name, kind in KINDS.items()
    }


@pytest.mark.parametrize(("where", "expression"), list(_expressions()), ids=lambda value: str(value)[:40])
def test_a_gauge_of_a_replicated_controller_is_counted_once(where: str, expression: str) -> None:
    assert not counted_twice(expression), where


@pytest.mark.parametrize("expression", CASES["a gauge that is counted once for each replica is found"])
def test_a_gauge_that_is_counted_once_for_each_replica_is_found(expression: str) -> None:
    assert counted_twice(expression)


@pytest.mark.parametrize("expression", CASES["what counts once is accepted"])
def test_what_counts_once_is_accepted(expression: str) -> None:
    assert not counted_twice(expression)
