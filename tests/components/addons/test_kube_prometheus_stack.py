"""kube-prometheus-stack on a sample platform: metrics, notifications, and no secrets."""

import json
from pathlib import Path
from typing import Any, Final

import pulumi_aws as aws

from components.addons.kube_prometheus_stack import LABELS, KubePrometheusStack, configuration
from spec.pools import keys
from spec.settings.addons.observability import KubePrometheusStack as Settings
from tests.components.addons.charts import own_values
from tests.support.context import Seen, seen_parts
from tests.support.mocks import statements

NOTIFICATIONS: Final = {"emails": ["ml@example.com"]}
TOPIC: Final = "arn:aws:sns:us-east-1:111122223333:slipway-test-notices"
RELEASE: Final = "kube-prometheus-stack"
TEAMS: Final = {
    "nlp": {"project": "llm", "costCenter": "research", "budgetUsd": 100, "cpus": {"cpu": {"nominalQuota": 4}}}
}


def seen(settings: dict[str, Any] | None = None, **parts: Any) -> Seen:
    configured = Settings.model_validate_json(json.dumps(settings or {}))
    return seen_parts(lambda: KubePrometheusStack(configured), **{"addons": {"kubePrometheusStack": {}}, **parts})


def values(settings: dict[str, Any] | None = None, **parts: Any) -> Any:
    return seen(settings, **parts).values[RELEASE]


def test_the_label_of_a_pool_is_exported() -> None:
    assert keys.POOL in LABELS["nodes"]


def test_no_value_of_grafana_is_a_password() -> None:
    named = values({"grafana": {"adminSecret": "grafana-admin"}})["grafana"]
    assert "assword" not in json.dumps([values()["grafana"], named])


def test_without_notifications_nothing_may_be_published() -> None:
    assert list(seen().parts.permissions) == []


def test_alerts_are_published_with_pod_identity() -> None:
    result = seen(notifications=NOTIFICATIONS)
    config = result.values[RELEASE]["alertmanager"]["config"]
    assert config["route"]["receiver"] == "notices"
    sns = config["receivers"][1]["sns_configs"][0]
    assert (sns["topic_arn"], sns["sigv4"]) == (TOPIC, {"region": "us-east-1"})
    assert set(sns["attributes"]) == {"severity", "team"}
    association = result.recording.one(aws.eks.PodIdentityAssociation).inputs
    assert association["serviceAccount"] == "kube-prometheus-stack-alertmanager"
    publish, encrypt = statements(result.recording.one(aws.iam.RolePolicy).inputs["policy"]).values()
    assert (publish["Action"], publish["Resource"]) == (["sns:Publish"], [TOPIC])
    assert encrypt["Condition"]["StringEquals"] == {"kms:ViaService": ["sns.us-east-1.amazonaws.com"]}


def test_alertmanagers_routes_use_existing_receivers() -> None:
    for topic in (TOPIC, None):
        manifest = configuration(topic, "us-east-1", "test")
        names = {receiver["name"] for receiver in manifest["receivers"]}
        routes = [manifest["route"], *manifest["route"]["routes"]]
        assert {route["receiver"] for route in routes} <= names
        assert "team" in manifest["route"]["group_by"]


def test_rules_monitors_and_dashboards_are_declared() -> None:
    result = seen(teams=TEAMS)
    assert set(result.before) == {f"dashboard-{name}" for name in ("cost", "gpus", "queues", "serving", "sizing")}
    assert {"rules-records", "rules-alerts", "monitor-karpenter", "monitor-jobs", "monitor-serving"} <= set(
        result.objects
    )
    groups = {group["name"]: group["rules"] for group in result.objects["rules-records"]["spec"]["groups"]}
    budget = {"record": "slipway:team:budget_usd", "expr": "vector(100)", "labels": {"team": "nlp"}}
    assert budget in groups["slipway-spend"]


def test_the_efa_exporter_runs_only_on_efa_pools() -> None:
    daemon = seen().objects["efa-exporter"]["spec"]["template"]["spec"]
    term = daemon["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"][0]
    assert term["matchExpressions"] == [{"key": keys.POOL, "operator": "In", "values": ["h100"]}]
    assert {each["key"] for each in daemon["tolerations"]} >= {keys.GPU, keys.POOL}
    assert daemon["containers"][0]["resources"]["limits"]["memory"]
    without = seen(pools={"cpu": {"preset": "cpu"}}).objects
    assert not {"efa-exporter", "monitor-efa"} & set(without)


def test_node_costs_come_from_opencost_if_enabled() -> None:
    with_it = seen(addons={"kubePrometheusStack": {}, "opencost": {}}).objects["rules-records"]
    assert "node_total_hourly_cost" in json.dumps(with_it)
    assert "node_total_hourly_cost" not in json.dumps(seen().objects["rules-records"])


def test_names_that_other_modules_use() -> None:
    result = seen()
    assert KubePrometheusStack.namespace.name == "monitoring"
    assert [each.release_name for each in result.parts.releases] == [f"{RELEASE}-crds", RELEASE]


def test_crds_are_installed_once_by_their_own_release(shared: Path) -> None:
    charts = own_values(shared, RELEASE)
    crds, whole = seen().parts.releases
    assert crds.ref == whole.ref
    assert (crds.crds_only, crds.skip_crds, whole.skip_crds) == (True, False, True)
    # Everything that the chart enables by default is disabled, except the CRDs.
    on = {key for key, value in charts.items() if isinstance(value, dict) and value.get("enabled") is True}
    off = {key for key, value in crds.values.items() if value == {"enabled": False}}
    # The second is for monitors of components with their own subchart.
    assert on - off == {"crds", "kubernetesServiceMonitors"}
    assert crds.values["defaultRules"] == {"create": False}
