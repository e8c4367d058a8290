"""Elastic pools of a stack, by Karpenter's own core: nodes come from zero, within limits, and go again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from slipway.sandbox.kubernetes.objects import Object, Ref, condition
from slipway.sandbox.kubernetes.waiting import until
from slipway.sandbox.nodes import ec2
from slipway.sandbox.nodes.ec2 import Ec2, Refusal
from spec.pools import resolve_all
from spec.pools.keys import GPU
from spec.pools.pool_spec import PoolSpec
from tests.slipway.sandbox.elastic import Elastic, elastic_plane
from tests.support.stacks import platform_of

pytestmark = pytest.mark.sandbox
SECONDS = 60.0
GATES = "NodeOverlay=true,SpotToSpotConsolidation=true,ReservedCapacity=false"
MIG = "nvidia.com/mig-1g.5gb"
INSTANCE_TYPE = "node.kubernetes.io/instance-type"


def pools() -> dict[str, PoolSpec]:
    """Those of stack dev."""
    return resolve_all(platform_of("dev"))


@pytest.fixture(scope="module")
def elastic(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> Iterator[Elastic]:
    with elastic_plane(tmp_path_factory.mktemp("elastic"), shared, GATES) as started:
        yield started


def pod(name: str, spec: PoolSpec, requests: dict[str, str], annotations: dict[str, str] | None = None) -> Object:
    """A pod for a pool: with its labels, its toleration, and requests."""
    tolerations = [{"key": taint.key, "operator": "Exists", "effect": taint.effect} for taint in spec.taints]
    container = {"name": "main", "image": "busybox", "resources": {"requests": requests, "limits": requests}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "annotations": annotations or {}},
        "spec": {
            "containers": [container],
            "nodeSelector": {"karpenter.sh/nodepool": spec.name},
            "tolerations": tolerations,
            "terminationGracePeriodSeconds": 5,
        },
    }


def running(elastic: Elastic, name: str) -> Object:
    """The pod, once it runs."""

    def look() -> Object | None:
        found = elastic.client.get(Ref("v1", "Pod", name, "default"))
        return found if found and found["status"].get("phase") == "Running" else None

    return until(look, SECONDS, f"pod {name} does not run")


def event(elastic: Elastic, name: str, text: str) -> str:
    """The message of an event of an object that contains a text, once there is one."""

    def look() -> str | None:
        kind = elastic.client.discovery.find("v1", "Event")
        found = elastic.client.list(kind, fields=f"involvedObject.name={name}")
        return next((one["message"] for one in found if text in one["message"]), None)

    return until(look, SECONDS, f"no event of {name} with {text!r}")


def node_of(elastic: Elastic, found: Object) -> Object:
    node = elastic.client.get(Ref("v1", "Node", found["spec"]["nodeName"]))
    assert node is not None
    return node


def test_a_gpu_pod_gets_a_node_from_zero(elastic: Elastic) -> None:
    spec = pools()["h100"]
    elastic.pool(spec)
    assert elastic.nodes("h100") == []
    elastic.client.create(pod("train", spec, {GPU: "1"}), "test")
    node = node_of(elastic, running(elastic, "train"))
    labels = node["metadata"]["labels"]
    assert labels[INSTANCE_TYPE] == "p5.4xlarge"
    assert labels["topology.kubernetes.io/zone"] == "us-east-1a"
    assert labels["karpenter.sh/capacity-type"] == "on-demand"
    assert node["status"]["capacity"][GPU] == "1"
    assert node["status"]["capacity"]["cpu"] == "16"
