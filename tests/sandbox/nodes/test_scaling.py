"""Which group the Cluster Autoscaler would grow, and by how many nodes."""

from typing import Any

import pytest

from components.addons.cluster_autoscaler import values
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Ref, condition
from sandbox.nodes import instances
from sandbox.nodes.instances import UNREGISTERED, node_of
from sandbox.nodes.scaling import Flags, Option, Place, best, estimate, left_over, requests, seconds
from sandbox.nodes.spec import NodeSpec, Taint, node
from tests.sandbox.plane import existing

GPU = "nvidia.com/gpu"
TAINT = Taint(GPU, "NoSchedule", "true")


def spec(cpu: str = "4", memory: str = "16Gi", gpus: str = "0", **more: Any) -> NodeSpec:
    size = {"cpu": cpu, "memory": memory, "pods": "10", GPU: gpus}
    return NodeSpec(
        name="group-0", owner="nodegroup/group", instance_type="m7i.xlarge", arch="amd64", kubernetes="1.36",
        capacity=size, allocatable=size, **more,
    )  # fmt: skip


def place(**more: Any) -> Place:
    return Place.of(node(spec(**more)))


def pod(cpu: str = "1", memory: str = "1Gi", **more: Any) -> dict[str, Any]:
    resources = {"requests": {"cpu": cpu, "memory": memory, **more.pop("devices", {})}}
    return {"metadata": {"name": "it", "uid": "1"}, "spec": {"containers": [{"resources": resources}], **more}}


def affinity(operator: str, *names: str) -> dict[str, Any]:
    term = {"matchExpressions": [{"key": "pool", "operator": operator, "values": list(names)}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}


@pytest.mark.parametrize(("text", "expected"), [("10s", 10), ("1m30s", 90), ("0.5h", 1800), ("250ms", 0.25)])
def test_durations_are_those_of_go(text: str, expected: float) -> None:
    assert seconds(text) == expected


def test_flags_are_those_of_the_release_and_else_upstreams_defaults() -> None:
    given = values(cluster="dev", region="us-east-1", version="1.35")["extraArgs"]
    flags = Flags.of(["./cluster-autoscaler", *(f"--{name}={value}" for name, value in given.items())])
    assert flags == Flags(expander="least-waste", scan=10, unneeded=600, after_add=600, provision=900)
    changed = Flags.of(["--scan-interval=2s", "--scale-down-unneeded-time=1m", "--scale-down-enabled=false"])
    assert (changed.scan, changed.unneeded, changed.scales_down) == (2, 60, False)


def test_a_pod_requests_its_containers_together_or_its_largest_init_container() -> None:
    two = pod()
    two["spec"]["containers"] *= 2
    two["spec"]["initContainers"] = [{"resources": {"requests": {"memory": "8Gi"}}}]
    assert requests(two) == {"pods": 1, "cpu": 2, "memory": 8 * 1024**3}


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (pod(), ""),
        (pod(cpu="5"), "Insufficient cpu"),
        (pod(devices={GPU: "1"}), f"Insufficient {GPU}"),
        (pod(devices={"example.com/other": "1"}), "Insufficient example.com/other"),
        (pod(nodeSelector={"pool": "cpu"}), ""),
        (pod(nodeSelector={"pool": "gpu"}), "node(s) didn't match Pod's node affinity/selector"),
        (pod(affinity=affinity("In", "cpu", "gpu")), ""),
        (pod(affinity=affinity("NotIn", "cpu")), "node(s) didn't match Pod's node affinity/selector"),
    ],
)
def test_a_new_node_takes_a_pod_as_the_scheduler_would(wanted: dict[str, Any], expected: str) -> None:
    assert place(labels={"pool": "cpu"}).refusal(wanted) == expected


@pytest.mark.parametrize(
    ("toleration", "tolerated"),
    [
        ({"key": GPU, "operator": "Exists"}, True),
        ({"operator": "Exists"}, True),
        ({"key": GPU, "operator": "Equal", "value": "true", "effect": "NoSchedule"}, True),
        ({"key": GPU, "operator": "Equal", "value": "false"}, False),
        ({"key": GPU, "operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "other", "operator": "Exists"}, False),
    ],
)
def test_taints_are_tolerated_by_key_value_and_effect(toleration: dict[str, Any], tolerated: bool) -> None:
    refusal = place(taints=(TAINT,)).refusal(pod(tolerations=[toleration]))
    assert refusal == ("" if tolerated else "node(s) had untolerated taint(s)")


def test_pods_that_a_coming_node_takes_need_no_other() -> None:
    coming = place()
    assert left_over([pod(cpu="3"), pod(cpu="2"), pod(cpu="1")], [coming]) == [pod(cpu="2")]


def test_the_largest_pods_come_first_and_the_maximum_is_kept() -> None:
    pods = [pod(cpu="1"), pod(cpu="3"), pod(cpu="3"), pod(cpu="1")]
    assert estimate(pods, place(), 5) == (2, (pods[1], pods[2], pods[0], pods[3]))
    assert estimate(pods, place(), 1) == (1, (pods[1], pods[0]))


def test_the_expander_decides_among_groups() -> None:
    pods = (pod(cpu="3", memory="12Gi"),)
    large = Option("a-large", 1, pods, spec(cpu="16", memory="64Gi"))
    small = Option("small", 1, pods, spec())
    more = Option("more", 2, (*pods, pod(cpu="16")), spec(cpu="64", memory="256Gi"))
    assert best([large, small, more], "least-waste") is small
    assert best([large, small, more], "most-pods") is more
    assert best([small, large, more], "random") is large


# The node of a launched NodeClaim, and its shutdown.


CLAIM: dict[str, Any] = {
    "metadata": {"name": "a100-x7k2p", "labels": {"karpenter.sh/nodepool": "a100",
            "node.kubernetes.io/instance-type": "p4d.24xlarge", "topology.kubernetes.io/zone": "us-east-1b",
            "nvidia.com/mig.config": "all-1g.5gb"}},
    "spec": {"taints": [{"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}]},
    "status": {"providerID": "aws:///us-east-1b/i-0123456789abcdef0", "capacity": {"nvidia.com/gpu": "8"}},
}  # fmt: skip
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
    assert condition(existing(client, node), "Ready")["status"] == "False"
