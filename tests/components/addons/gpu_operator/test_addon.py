"""The GPU Operator's values on pools of every kind."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from components.addons.gpu_operator import GpuOperator
from components.addons.gpu_operator import values as values_of
from spec.pools import resolve_all
from spec.settings.addons.gpu import GpuOperator as Settings
from tests.components.addons.charts import own_values, unknown_keys
from tests.components.pools.samples import platform
from tests.components.pools.test_crds import complaints
from tests.support.context import POOLS, Seen, seen_parts

PLACEMENT: Final = {"nodeSelector": {"platform.slipway/role": "system"}, "tolerations": [{"key": "x"}]}
L4: Final = {"preset": "gpu-spot"}
BOTTLEROCKET: Final = {**L4, "os": "bottlerocket", "localNvme": "none"}
SLICED: Final = {**L4, "sharing": {"mode": "time-slicing", "replicas": 4}}
MPS: Final = {**L4, "sharing": {"mode": "mps", "replicas": 8}}
H100_CUT: Final = {"preset": "h100", "role": "inference", "mig": {"layout": "all-balanced"}}


def seen(pools: Mapping[str, Mapping[str, Any]] = POOLS, **parts: Any) -> Seen:
    return seen_parts(lambda: GpuOperator(Settings()), pools=pools, **parts)


def values(pools: Mapping[str, Mapping[str, Any]], *, monitored: bool = False, **settings: Any) -> dict[str, Any]:
    resolved = resolve_all(platform(pools))
    return values_of(Settings(**settings), pools=resolved, placement=PLACEMENT, monitored=monitored)


def test_driver_and_toolkit_come_with_the_image() -> None:
    chart_values = values(POOLS)
    assert (chart_values["driver"], chart_values["toolkit"]) == ({"enabled": False}, {"enabled": False})


def test_the_operator_and_the_master_of_discovery_run_on_the_system_pools() -> None:
    chart_values = values(POOLS)
    for part in (
        chart_values["operator"],
        chart_values["node-feature-discovery"]["master"],
        chart_values["node-feature-discovery"]["gc"],
    ):
        assert {key: part[key] for key in PLACEMENT} == PLACEMENT


def test_agents_tolerate_every_taint_of_every_gpu_pool() -> None:
    pools = {**POOLS, "odd": {**L4, "taints": {"ours.example/odd": {"value": "1", "effect": "NoExecute"}}}}
    chart_values = values(pools)
    tolerations = chart_values["daemonsets"]["tolerations"]
    assert chart_values["node-feature-discovery"]["worker"]["tolerations"] == tolerations
    for spec in resolve_all(platform(pools)).values():
        if spec.gpu:
            assert all(toleration.manifest in tolerations for toleration in spec.tolerations)
    assert {"key": "ours.example/odd", "operator": "Equal", "value": "1", "effect": "NoExecute"} in tolerations


def test_node_feature_discovery_runs_only_on_gpu_nodes() -> None:
    assert values(POOLS)["node-feature-discovery"]["worker"]["nodeSelector"] == {"nvidia.com/gpu": "true"}


def test_every_container_has_a_memory_request_and_limit() -> None:
    chart_values = values(POOLS)
    for part in ("devicePlugin", "gfd", "validator", "dcgmExporter"):
        resources = chart_values[part]["resources"]
        assert resources["limits"]["memory"]
        assert set(resources["requests"]) == {"cpu", "memory"}, part


@pytest.mark.parametrize("pools", [{"a100": POOLS["a100"]}, {"h100": H100_CUT}, {"l4": L4}, {}])
def test_the_mig_manager_which_stops_kubelets_is_disabled(pools: dict[str, Any]) -> None:
    assert values(pools)["migManager"] == {"enabled": False}


def test_no_mig_strategy_is_imposed_on_every_node() -> None:
    assert values({"a": POOLS["a100"], "b": MPS})["mig"] == {"strategy": ""}


def test_metrics_are_scraped_if_prometheus_is_installed() -> None:
    assert values(POOLS)["dcgmExporter"]["serviceMonitor"] == {"enabled": False}
    chart_values = values(POOLS, monitored=True, metricsSeconds=30)["dcgmExporter"]["serviceMonitor"]
    assert chart_values == {"enabled": True, "interval": "30s", "honorLabels": True}
    assert seen(addons={"kubePrometheusStack": {}}).values["gpu-operator"]["dcgmExporter"]["serviceMonitor"]["enabled"]


def test_metrics_distinguish_pods_that_share_a_gpu() -> None:
    name = {"name": "KUBERNETES_VIRTUAL_GPUS", "value": "true"}
    assert name in values({"l4": SLICED})["dcgmExporter"]["env"]
    assert values({"l4": L4})["dcgmExporter"]["env"] == []


def test_the_name_of_a_configuration_depends_on_its_content() -> None:
    def name(pools: dict[str, Any]) -> str:
        return str(values(pools)["devicePlugin"]["config"]["name"])

    base = name({"a": POOLS["a100"], "l4": SLICED})
    assert name({"l4": SLICED, "a": {**POOLS["a100"], "max": 7}}) == base
    assert name({"a": POOLS["a100"], "l4": MPS}) != base


def test_configurations_are_text_and_include_their_default() -> None:
    config = values({"a": POOLS["a100"], "l4": SLICED})["devicePlugin"]["config"]
    assert config["create"] is True
    assert all(isinstance(yaml.safe_load(text), dict) for text in config["data"].values())
    assert config["default"] in config["data"]


def test_bottlerocket_keeps_its_own_device_plugin_and_mig_manager() -> None:
    (rule,) = seen({"l4": BOTTLEROCKET}).objects["bottlerocket"]["spec"]["rules"]
    assert rule["labels"] == {
        "nvidia.com/gpu.deploy.device-plugin": "false",
        "nvidia.com/gpu.deploy.mig-manager": "false",
    }
    (match,) = rule["matchFeatures"]
    assert match == {"feature": "system.osrelease", "matchExpressions": {"ID": {"op": "In", "value": ["bottlerocket"]}}}


def test_the_rule_depends_on_the_chart_and_is_declared_only_for_bottlerocket() -> None:
    recording = seen({"l4": BOTTLEROCKET}).recording
    rule = recording.one("kubernetes:nfd.k8s-sigs.io/v1alpha1:NodeFeatureRule")
    assert recording.waits(rule, recording.one("kubernetes:helm.sh/v3:Release"))
    assert seen({"l4": L4}).objects == {}
    assert seen({"system2": {"preset": "system", "os": "bottlerocket"}}).objects == {}


def test_the_rule_satisfies_the_charts_crd(shared: Path) -> None:
    crds = yaml.load_all((shared / "charts/gpu-operator/crds/nfd-api-crds.yaml").read_text(), yaml.CSafeLoader)
    (crd,) = (each for each in crds if each and each["spec"]["names"]["kind"] == "NodeFeatureRule")
    expected = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    rule = seen({"l4": BOTTLEROCKET}).objects["bottlerocket"]["spec"]
    assert list(complaints(rule, expected, "spec")) == []
    rule["rules"][0]["matchFeatures"][0]["matchExpressions"]["ID"]["op"] = "Is"
    assert len(list(complaints(rule, expected, "spec"))) == 1


def test_its_namespace_allows_privileged_pods() -> None:
    assert GpuOperator.namespace.enforce == "privileged"


def test_every_value_exists_in_the_chart(shared: Path) -> None:
    chart = own_values(shared, "gpu-operator")
    discovery = own_values(shared, "node-feature-discovery")
    for part, own in discovery.items():
        if isinstance(own, dict):
            chart["node-feature-discovery"].setdefault(part, {})
            chart["node-feature-discovery"][part] = {**own, **chart["node-feature-discovery"][part]}
    chart_values = values({"a": POOLS["a100"], "l4": SLICED, "mps": MPS}, monitored=True)
    assert list(unknown_keys(chart_values, chart)) == []


def test_values_differ_from_the_charts_defaults(shared: Path) -> None:
    chart = own_values(shared, "gpu-operator")
    chart_values = values(POOLS, monitored=True)
    assert chart["driver"]["enabled"] is not chart_values["driver"]["enabled"]
    assert chart["toolkit"]["enabled"] is not chart_values["toolkit"]["enabled"]
    assert chart["mig"]["strategy"] != chart_values["mig"]["strategy"]


def test_node_feature_discovery_limits_its_own_memory(shared: Path) -> None:
    chart = own_values(shared, "node-feature-discovery")
    for part in ("master", "worker", "gc"):
        assert chart[part]["resources"]["limits"]["memory"], part
        assert chart[part]["resources"]["requests"]["memory"], part
