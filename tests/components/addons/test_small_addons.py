"""Add-ons with one release: cert-manager, KEDA, JobSet, KubeRay, LeaderWorkerSet, Volcano, Gateway API, Knative."""

from collections.abc import Callable, Iterator, Mapping
from ipaddress import ip_network
from typing import Any

import pytest

from components.addons.batch import Jobset, Kuberay, LeaderWorkerSet
from components.addons.ingress import CertManager
from components.addons.kserve import Kserve
from components.addons.kueue import Kueue
from components.addons.serving import Keda, Knative
from components.addons.trainer import Trainer
from components.base.addon import AddOn
from components.observability import monitors
from components.tenancy import network_policies
from spec.settings.addons import batch, ingress, serving
from spec.settings.addons.observability import KubePrometheusStack
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


def test_cert_manager_does_not_depend_on_prometheus_but_is_monitored() -> None:
    assert KubePrometheusStack not in ingress.CertManager.follows
    monitor = monitors.manifests("monitoring", efa=False)["monitor-cert-manager"]["spec"]
    assert monitor["namespaceSelector"] == {"matchNames": [CertManager.namespace.name]}
    release = seen(CONTROLLERS["cert-manager"]).parts.releases[0].release_name
    assert monitor["selector"]["matchLabels"] == {"app.kubernetes.io/instance": release}


def test_the_token_of_keda_reaches_no_address_outside() -> None:
    found = seen(CONTROLLERS["keda"])
    policy = found.parts.before["egress"]
    assert (policy["metadata"]["namespace"], policy["spec"]["podSelector"]) == ("keda", {})
    assert policy["spec"]["policyTypes"] == ["Egress"], "ingress from the API server and Prometheus stays open"
    peers = [peer for rule in policy["spec"]["egress"] for peer in rule["to"]]
    blocks = [ip_network(peer["ipBlock"]["cidr"]) for peer in peers if "ipBlock" in peer]
    assert ip_network("172.20.0.0/16") in blocks, "the Service of the API server"
    assert all(block.is_private for block in blocks)
    pods = [peer for peer in peers if "ipBlock" not in peer]
    assert all(peer["podSelector"] for peer in pods if "namespaceSelector" in peer)


def test_the_operator_is_reached_from_its_namespace_alone() -> None:
    assert Kuberay.namespace.name == network_policies.RAY


def test_knative_runs_on_the_system_pool() -> None:
    spec = seen(lambda: Knative(serving.Knative())).objects["serving"]["spec"]
    assert all(each["nodeSelector"] == SYSTEM for each in spec["workloads"])
