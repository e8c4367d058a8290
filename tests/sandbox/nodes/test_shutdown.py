"""The node of a launched NodeClaim, and its shutdown."""

from typing import Any

import pytest

from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Ref, condition
from sandbox.nodes import instances
from sandbox.nodes.instances import UNREGISTERED, node_of
from sandbox.nodes.spec import Taint

CLAIM: dict[str, Any] = {
    "metadata": {
        "name": "a100-x7k2p",
        "labels": {
            "karpenter.sh/nodepool": "a100",
            "node.kubernetes.io/instance-type": "p4d.24xlarge",
            "topology.kubernetes.io/zone": "us-east-1b",
            "nvidia.com/mig.config": "all-1g.5gb",
        },
    },
    "spec": {"taints": [{"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}]},
    "status": {"providerID": "aws:///us-east-1b/i-0123456789abcdef0", "capacity": {"nvidia.com/gpu": "8"}},
}
CLASS = {"spec": {"kubelet": {"maxPods": 58}, "amiSelectorTerms": [{"alias": "al2023@v20261101"}]}}


def test_a_node_has_what_its_labels_say_and_not_what_karpenter_expects() -> None:
    node = node_of(CLAIM, CLASS, "1.36")
    assert (node.capacity["nvidia.com/mig-1g.5gb"], node.capacity["nvidia.com/gpu"]) == ("56", "0")
    assert node.capacity["pods"] == "58"
    assert (node.name, node.zone, node.instance_id) == ("a100-x7k2p", "us-east-1b", "i-0123456789abcdef0")


def test_a_kubelet_registers_with_the_pools_taints_and_that_of_an_unregistered_node() -> None:
    assert node_of(CLAIM, CLASS, "1.36").taints == (Taint("nvidia.com/gpu", "NoSchedule", "true"), UNREGISTERED)


@pytest.mark.parametrize(
    ("alias", "version", "expected"),
    [("al2023@v20261101", "1.34", True), ("al2023@v20261101", "1.33", False), ("bottlerocket@v1.50.0", "1.35", False)],
)
def test_nodes_of_al2023_shut_down_gracefully_from_kubernetes_1_34(alias: str, version: str, expected: bool) -> None:
    assert instances.graceful({"spec": {"amiSelectorTerms": [{"alias": alias}]}}, version) is expected


def test_a_pod_that_the_shutdown_ends_has_the_kubelets_reason_and_conditions() -> None:
    container = {"name": "main", "image": "busybox", "imageID": "", "restartCount": 0, "ready": True}
    pod = {"metadata": {"name": "p", "namespace": "n"}, "status": {"containerStatuses": [container]}}
    status = instances.ended(pod, "2026-11-22T12:00:00Z")["status"]
    assert (status["phase"], status["reason"]) == ("Failed", "Terminated")
    assert {"DisruptionTarget": "True", "Ready": "False"}.items() <= {
        each["type"]: each["status"] for each in status["conditions"]
    }.items()
    (ended,) = status["containerStatuses"]
    assert ended["state"]["terminated"]["exitCode"] == 143
    assert ended["ready"] is False


@pytest.mark.sandbox
def test_a_pod_that_goes_meanwhile_does_not_keep_its_node(
    client: KubeClient, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = Ref("v1", "Node", f"node-{namespace}")
    client.apply(node.as_object(), "test")
    gone = Ref("v1", "Pod", "gone", namespace).as_object()
    monkeypatch.setattr(client, "list", lambda *_, **__: iter([gone]))
    instances.shut_down(client, node.name, graceful=True)
    live = client.get(node)
    assert live is not None
    assert condition(live, "Ready")["status"] == "False"
