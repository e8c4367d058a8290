"""Add-ons with one release: cert-manager, KEDA, JobSet, KubeRay, LeaderWorkerSet, Volcano, Gateway API, Knative."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from components.addons.cert_manager import CertManager
from components.addons.gateway_api import GatewayApi
from components.addons.jobset import Jobset
from components.addons.keda import Keda
from components.addons.knative import Knative
from components.addons.kserve import Kserve
from components.addons.kuberay import Kuberay
from components.addons.kueue import Kueue
from components.addons.leader_worker_set import LeaderWorkerSet
from components.addons.trainer import Trainer
from components.addons.volcano import TEAM_LABEL, Volcano
from components.base.addon import AddOn
from components.observability import monitors
from components.tenancy import network_policies
from spec.settings.addons import batch, ingress, serving
from spec.settings.addons.observability import KubePrometheusStack
from spec.teams import labels
from tests.support.context import Seen, seen_parts

CONTROLLERS: dict[str, Callable[[], AddOn[Any]]] = {
    "cert-manager": lambda: CertManager(ingress.CertManager()),
    "jobset": lambda: Jobset(batch.Jobset()),
    "keda": lambda: Keda(serving.Keda()),
    "kserve": lambda: Kserve(serving.Kserve()),
    "kueue": lambda: Kueue(batch.Kueue()),
    "kuberay": lambda: Kuberay(batch.Kuberay()),
    "leader-worker-set": lambda: LeaderWorkerSet(batch.LeaderWorkerSet()),
    "trainer": lambda: Trainer(batch.Trainer()),
}
SYSTEM = {"platform.slipway/role": "system"}


def seen(addon: Callable[[], AddOn[Any]], *, prometheus: bool = False) -> Seen:
    return seen_parts(addon, addons={"kubePrometheusStack": {}} if prometheus else {})


def values_of(key: str, at: Any) -> Iterator[Any]:
    """All values of a key, at any depth."""
    if isinstance(at, Mapping):
        for name, value in at.items():
            if name == key:
                yield value
            yield from values_of(key, value)


@pytest.mark.parametrize("name", CONTROLLERS)
def test_controllers_run_on_the_system_pool_with_limits(name: str) -> None:
    values = seen(CONTROLLERS[name]).values
    selectors = list(values_of("nodeSelector", values))
    assert selectors
    assert all(selector == SYSTEM for selector in selectors)
    tolerations = list(values_of("tolerations", values))
    assert all({"key": "CriticalAddonsOnly", "operator": "Exists"} in each for each in tolerations)
    sizes = [
        one for each in values_of("resources", values) for one in ([each] if "requests" in each else each.values())
    ]
    assert sizes
    for size in sizes:
        assert {"cpu", "memory"} <= set(size["requests"])
        assert "memory" in size["limits"]


def test_webhooks_that_fail_closed_have_a_disruption_budget() -> None:
    webhook = seen(CONTROLLERS["cert-manager"]).values["cert-manager"]["webhook"]
    assert (webhook["replicaCount"], webhook["podDisruptionBudget"]["minAvailable"]) == (2, 1)
    alone = seen(lambda: CertManager(ingress.CertManager(replicas=1))).values["cert-manager"]["webhook"]
    assert "podDisruptionBudget" not in alone, "a budget of the one pod would block every drain"


def test_certificates_survive_an_uninstall_of_cert_manager() -> None:
    assert seen(CONTROLLERS["cert-manager"]).values["cert-manager"]["crds"] == {"enabled": True, "keep": True}


def test_cert_manager_does_not_depend_on_prometheus_but_is_monitored() -> None:
    assert KubePrometheusStack not in ingress.CertManager.follows
    monitor = monitors.manifests("monitoring", efa=False)["monitor-cert-manager"]["spec"]
    assert monitor["namespaceSelector"] == {"matchNames": [CertManager.namespace.name]}
    release = seen(CONTROLLERS["cert-manager"]).parts.releases[0].release_name
    assert monitor["selector"]["matchLabels"] == {"app.kubernetes.io/instance": release}


@pytest.mark.parametrize("on", [True, False])
def test_monitors_are_enabled_if_prometheus_is_installed(on: bool) -> None:
    scalers = seen(CONTROLLERS["keda"], prometheus=on).values["keda"]
    assert all(each["serviceMonitor"]["enabled"] is on for each in scalers["prometheus"].values())
    sets = seen(CONTROLLERS["leader-worker-set"], prometheus=on).values["lws"]
    assert sets["enablePrometheus"] is on
    ray = seen(CONTROLLERS["kuberay"], prometheus=on).values["kuberay-operator"]
    assert ray["metrics"] == {"serviceMonitor": {"enabled": on}}


def test_lws_gets_a_disruption_budget() -> None:
    budget = seen(CONTROLLERS["leader-worker-set"]).objects["budget"]
    assert budget["metadata"]["namespace"] == LeaderWorkerSet.namespace.name
    assert seen(lambda: LeaderWorkerSet(batch.LeaderWorkerSet(replicas=1))).objects == {}


def test_kuberay_gets_a_disruption_budget_and_volcanos_pod_groups() -> None:
    found = seen(CONTROLLERS["kuberay"])
    assert found.objects["budget"]["metadata"] == {"name": "kuberay-operator", "namespace": "kuberay"}
    assert "batchScheduler" not in found.values["kuberay-operator"]
    assert seen(lambda: Kuberay(batch.Kuberay(replicas=1))).objects == {}
    gangs = seen_parts(CONTROLLERS["kuberay"], addons={"volcano": {}}).values["kuberay-operator"]
    assert gangs["batchScheduler"] == {"name": "volcano"}


def test_the_operator_is_reached_from_its_namespace_alone() -> None:
    assert Kuberay.namespace.name == network_policies.RAY


def test_volcanos_webhooks_apply_only_to_team_namespaces() -> None:
    values = seen(lambda: Volcano(batch.Volcano())).values["volcano"]["custom"]
    assert values["webhooks_namespace_selector_expressions"] == [{"key": labels.TEAM, "operator": "Exists"}]
    assert TEAM_LABEL == labels.TEAM
    assert values["default_ns"] == SYSTEM
    assert values["leader_elect_enable"] is True


def test_the_gateway_api_is_installed_without_envoy_and_with_a_gateway_class() -> None:
    parts = seen(lambda: GatewayApi(ingress.GatewayApi()))
    assert parts.values["gateway-crds"]["crds"]["envoyGateway"] == {"enabled": False}
    assert parts.values["gateway-crds"]["crds"]["gatewayAPI"] == {"enabled": True, "channel": "standard"}
    assert parts.objects["class"]["spec"] == {"controllerName": "gateway.k8s.aws/alb"}


def test_knative_uses_kourier_and_allows_node_selectors() -> None:
    spec = seen(lambda: Knative(serving.Knative())).objects["serving"]["spec"]
    assert spec["ingress"] == {"kourier": {"enabled": True}}
    assert spec["config"]["features"]["kubernetes.podspec-tolerations"] == "enabled"
    assert all(each["nodeSelector"] == SYSTEM for each in spec["workloads"])
