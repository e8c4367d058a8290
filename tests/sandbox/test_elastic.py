"""Elastic pools of a stack, by Karpenter's own core: nodes come from zero, within limits, and go again."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.kubernetes.objects import Object, Ref
from sandbox.kubernetes.waiting import until
from sandbox.nodes import ec2, machine
from sandbox.nodes.ec2 import Ec2, Refusal
from slipway.quickstarts.units import Unit
from spec.pools import resolve_all
from spec.pools.keys import GPU
from spec.pools.pool_spec import PoolSpec
from tests.components.pools.samples import platform
from tests.components.pools.test_fallbacks import POOLS as FALLBACK_POOLS
from tests.sandbox.elastic import Elastic, elastic_plane
from tests.sandbox.plane import existing
from tests.support.patience import SECONDS
from tests.support.stacks import platform_of

pytestmark = pytest.mark.sandbox
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
    made = Ref("v1", "Pod", name, "default").as_object()
    made["metadata"]["annotations"] = annotations or {}
    placed = {"nodeSelector": {"karpenter.sh/nodepool": spec.name}, "tolerations": tolerations}
    return {**made, "spec": {"containers": [container], "terminationGracePeriodSeconds": 5, **placed}}


def running(elastic: Elastic, name: str) -> Object:
    """The pod, once it runs."""

    def look() -> Object | None:
        found = elastic.client.get(Ref("v1", "Pod", name, "default"))
        return found if found and found["status"].get("phase") == "Running" else None

    return until(look, SECONDS, f"pod {name} does not run")


def event(elastic: Elastic, name: str, text: str, field: str = "involvedObject.name") -> str:
    """The message of an event of an object that contains a text, once there is one: events come late."""

    def look() -> str | None:
        kind = elastic.client.discovery.find("v1", "Event")
        found = elastic.client.list(kind, fields=f"{field}={name}")
        return next((one["message"] for one in found if text in one["message"]), None)

    return until(look, SECONDS, f"no event of {name} with {text!r}")


def said(elastic: Elastic, reason: str, text: str) -> str:
    """The same of an event with a reason."""
    return event(elastic, reason, text, "reason")


def node_of(elastic: Elastic, found: Object) -> Object:
    return existing(elastic.client, Ref("v1", "Node", found["spec"]["nodeName"]))


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


def test_a_node_is_of_the_lowest_priced_offering(elastic: Elastic) -> None:
    spec = pools()["gpu-spot"]
    elastic.pool(spec)
    elastic.client.create(pod("notebook", spec, {GPU: "1"}), "test")
    node = node_of(elastic, running(elastic, "notebook"))
    allowed = {kind.name for kind in spec.instance_types}
    prices = {one["name"]: one["prices"]["spot"] for one in machine.types("us-east-1") if one["name"] in allowed}
    assert node["metadata"]["labels"][INSTANCE_TYPE] == min(prices, key=lambda name: prices[name]) == "g6.2xlarge"
    assert node["metadata"]["labels"]["karpenter.sh/capacity-type"] == "spot"
    # Each GPU is shared by four, and Karpenter knows it before the node reports it.
    assert node["status"]["capacity"][GPU] == "4"
    claim = existing(elastic.client, Ref("karpenter.sh/v1", "NodeClaim", node["metadata"]["name"]))
    assert claim["status"]["allocatable"][GPU] == "4"
    elastic.client.create(pod("rest", spec, {GPU: "3"}), "test")
    assert running(elastic, "rest")["spec"]["nodeName"] == node["metadata"]["name"]


def test_notebooks_that_come_one_by_one_use_all_shares_of_a_gpu_before_another_node_comes(elastic: Elastic) -> None:
    """With requests of a quickstart: Karpenter launches the lowest-priced node on which the first fits."""
    spec = pools()["gpu-spot"]
    resources = Unit(pool=spec, device=GPU, platform=platform_of("dev")).resources()
    requests = {GPU: "1", "cpu": resources.cpu, "memory": resources.memory}
    nodes = []
    for index in range(4):
        elastic.client.create(pod(f"share-{index}", spec, requests), "test")
        nodes.append(running(elastic, f"share-{index}")["spec"]["nodeName"])
    assert len(set(nodes)) == 1
    elastic.client.create(pod("fifth", spec, requests), "test")
    assert running(elastic, "fifth")["spec"]["nodeName"] not in nodes


def test_a_part_of_a_gpu_and_types_by_family_get_their_nodes_and_arm64_only_for_pods_that_say_so(
    elastic: Elastic,
) -> None:
    """EC2 counts no GPU of g6f: Karpenter knows it by the NodeOverlay."""
    part = {"role": "inference", "provisioner": "karpenter", "instanceTypes": ["g6f.large", "g6f.xlarge"], "max": 2}
    wanted = {"families": ["m8g", "m9g"], "generations": [8], "sizes": ["large", "xlarge"], "arch": "arm64"}
    made: dict[str, dict[str, Any]] = {"part": part, "arm": {"preset": "cpu", "instanceRequirements": wanted}}
    specs = resolve_all(platform(made))
    for spec in specs.values():
        if not spec.managed:
            elastic.pool(spec)
    elastic.client.create(pod("piece", specs["part"], {GPU: "1"}), "test")
    found = node_of(elastic, running(elastic, "piece"))
    assert found["metadata"]["labels"][INSTANCE_TYPE] == "g6f.large"
    assert found["status"]["capacity"][GPU] == "1"
    refused = pod("amd64", specs["arm"], {"cpu": "1"})
    refused["spec"].pop("tolerations")
    elastic.client.create(refused, "test")
    elastic.client.create(pod("graviton", specs["arm"], {"cpu": "1"}), "test")
    node = node_of(elastic, running(elastic, "graviton"))
    assert node["metadata"]["labels"][INSTANCE_TYPE] == "m8g.large"
    assert node["metadata"]["labels"]["kubernetes.io/arch"] == "arm64"
    event(elastic, "amd64", "did not tolerate taint")
    assert not existing(elastic.client, Ref("v1", "Pod", "amd64", "default"))["spec"].get("nodeName")


def test_mig_slices_fill_one_node_and_the_limit_refuses_a_second(elastic: Elastic) -> None:
    spec = pools()["a100"]
    elastic.pool(spec)
    elastic.client.create(pod("slice", spec, {MIG: "1"}), "test")
    node = node_of(elastic, running(elastic, "slice"))
    assert (node["status"]["capacity"][MIG], node["status"]["capacity"][GPU]) == ("56", "0")
    elastic.client.create(pod("slices", spec, {MIG: "55"}), "test")
    assert running(elastic, "slices")["spec"]["nodeName"] == node["metadata"]["name"]
    elastic.client.create(pod("too-many", spec, {MIG: "1"}), "test")
    # Karpenter's own words (karpenter v1.14.1, pkg/controllers/provisioning/scheduling/scheduler.go).
    event(elastic, "too-many", "node limits have been exhausted for nodepool (NodePool=a100)")
    assert len(elastic.nodes("a100")) == 1


def test_without_capacity_in_a_zone_the_pool_uses_another(elastic: Elastic) -> None:
    spec = pools()["cpu"]
    elastic.pool(spec)
    first, second = spec.zones
    ec2.write(elastic.home, Ec2((Refusal(zone=first),)))
    elastic.client.create(pod("cpu", spec, {"cpu": "1"}), "test")
    node = node_of(elastic, running(elastic, "cpu"))
    assert node["metadata"]["labels"]["topology.kubernetes.io/zone"] == second
    ec2.write(elastic.home, Ec2((Refusal(),)))
    elastic.client.create(pod("large", spec, {"cpu": "14"}), "test")
    # EC2 is asked once, then not for three minutes, in which no type that fits is available: the smaller ones that
    # Karpenter still knows have too little CPU, and so it says nothing of capacity.
    event(elastic, "large", "no instance type has enough resources")
    said(elastic, "InsufficientCapacityError", "We currently do not have sufficient m7i.4xlarge capacity")
    ec2.write(elastic.home, Ec2())


def test_without_capacity_a_pool_uses_its_fallbacks_in_their_order(elastic: Elastic) -> None:
    """Reserved capacity is missing here, and on-demand is refused."""
    spec = resolve_all(platform(FALLBACK_POOLS))["l4"]
    for number, one in enumerate((spec, *spec.fallbacks)):
        # As the program does (tests/components/pools/test_fallbacks.py).
        elastic.pool(one, weight=100 - number)
    ec2.write(elastic.home, Ec2((Refusal(capacity_type="on-demand"),)))
    waiting = pod("anywhere", spec, {GPU: "1"})
    waiting["spec"]["nodeSelector"] = dict(spec.node_selector)
    elastic.client.create(waiting, "test")
    labels = node_of(elastic, running(elastic, "anywhere"))["metadata"]["labels"]
    assert (labels["karpenter.sh/nodepool"], labels["karpenter.sh/capacity-type"]) == ("l4-spot", "spot")
    assert labels["platform.slipway/pool"] == "l4"
    said(elastic, "InsufficientCapacityError", "sufficient g6.xlarge capacity")
    ec2.write(elastic.home, Ec2())
