"""The GPU Operator's values on pools of every kind."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from components.addons.gpu_operator import EXCLUSIVE, GpuOperator, configurations
from components.addons.gpu_operator import values as values_of
from spec.pools import resolve_all
from spec.settings.addons.gpu import GpuOperator as Settings
from tests.components.addons.charts import own_values
from tests.components.pools.samples import platform
from tests.support.context import POOLS, Seen, seen_parts
from tests.support.structural import complaints, definition, schema

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


def test_every_container_has_a_memory_request_and_limit() -> None:
    chart_values = values(POOLS)
    for part in ("devicePlugin", "gfd", "validator", "dcgmExporter"):
        resources = chart_values[part]["resources"]
        assert resources["limits"]["memory"]
        assert set(resources["requests"]) == {"cpu", "memory"}, part


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


def test_the_rule_depends_on_the_chart_and_is_declared_only_for_bottlerocket() -> None:
    recording = seen({"l4": BOTTLEROCKET}).recording
    rule = recording.one("kubernetes:nfd.k8s-sigs.io/v1alpha1:NodeFeatureRule")
    assert recording.waits(rule, recording.one("kubernetes:helm.sh/v3:Release"))
    assert seen({"l4": L4}).objects == {}
    assert seen({"system2": {"preset": "system", "os": "bottlerocket"}}).objects == {}


def test_the_rule_satisfies_the_charts_crd(shared: Path) -> None:
    crd = definition(shared / "charts/gpu-operator/crds/nfd-api-crds.yaml", "NodeFeatureRule")
    expected = schema(crd, "v1alpha1")["properties"]["spec"]
    rule = seen({"l4": BOTTLEROCKET}).objects["bottlerocket"]["spec"]
    assert list(complaints(rule, expected, "spec")) == []
    rule["rules"][0]["matchFeatures"][0]["matchExpressions"]["ID"]["op"] = "Is"
    assert len(list(complaints(rule, expected, "spec"))) == 1


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


GPU_SPOT = {"preset": "gpu-spot"}
CUT = {"preset": "a100", "role": "inference", "mig": {"layout": "all-2g.10gb"}}


def documents(**pools: dict[str, Any]) -> dict[str, Any]:
    return configurations(resolve_all(platform(pools)).values())


def sharing(mode: str, replicas: int) -> dict[str, Any]:
    return {"sharing": {"mode": mode, "replicas": replicas}}


def test_pools_with_equal_sharing_use_one_configuration_with_all_their_devices() -> None:
    manifests = documents(a={**CUT, **sharing("time-slicing", 2)}, b={**GPU_SPOT, **sharing("time-slicing", 2)})
    assert set(manifests) == {EXCLUSIVE, "time-slicing-2"}
    names = [each["name"] for each in manifests["time-slicing-2"]["sharing"]["timeSlicing"]["resources"]]
    assert names == ["nvidia.com/gpu", "nvidia.com/mig-2g.10gb"]
