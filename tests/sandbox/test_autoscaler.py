"""Managed node groups of a living cluster grow for pods without a node, and shrink again, by the autoscaler's flags."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from components.pools.managed import group_tags
from sandbox.cluster.control_plane import PROGRAMS
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.objects import Object, Ref
from sandbox.kubernetes.waiting import until
from sandbox.nodes import ec2
from sandbox.nodes.autoscaler import Autoscaler
from sandbox.nodes.ec2 import Ec2, Refusal
from sandbox.nodes.registry import NodeRegistry
from sandbox.nodes.spec import NodeWriter
from spec.pools.keys import GPU
from spec.pools.pool_spec import PoolSpec
from tests.components.pools.samples import MANAGED_A100, spec
from tests.sandbox.plane import CLUSTER, existing, start_plane
from tests.support.patience import SECONDS

pytestmark = pytest.mark.sandbox
GROUP = "a100"
FLAGS = ("--scan-interval=1s", "--scale-down-unneeded-time=2s", "--scale-down-delay-after-add=2s")


class Facts:
    def zone_of(self, subnet: str) -> str | None:
        return subnet

    def asg_of(self, cluster: str, node_group: str) -> str | None:
        return f"asg-{node_group}"


@dataclass(frozen=True)
class World:
    """What a test needs."""

    client: KubeClient
    registry: NodeRegistry
    home: Path
    pool: PoolSpec

    def nodes(self) -> list[str]:
        """Names of the group's nodes."""
        kind = self.client.discovery.find("v1", "Node")
        found = self.client.list(kind, selector=f"eks.amazonaws.com/nodegroup={GROUP}")
        return sorted(one["metadata"]["name"] for one in found)

    def pod(self, name: str, gpus: int = 8) -> None:
        """A pod for the pool."""
        requests = {GPU: str(gpus)}
        container = {"name": "main", "image": "busybox:1", "resources": {"requests": requests, "limits": requests}}
        tolerations = [{"key": taint.key, "operator": "Exists"} for taint in self.pool.taints]
        body = {"containers": [container], "nodeSelector": dict(self.pool.node_selector), "tolerations": tolerations}
        metadata = {"name": name, "namespace": "default"}
        self.client.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": body}, "test")

    def runs_on(self, name: str) -> str:
        """The node of a pod, once it runs."""

        def look() -> str | None:
            found = self.client.get(Ref("v1", "Pod", name, "default")) or {}
            return found["spec"]["nodeName"] if found.get("status", {}).get("phase") == "Running" else None

        return until(look, SECONDS, f"pod {name} does not run")

    def event(self, name: str, text: str) -> Object:
        """An event of a pod from the autoscaler."""

        def look() -> Object | None:
            found = self.client.list(
                self.client.discovery.find("v1", "Event"), "default", fields=f"involvedObject.name={name}"
            )
            own = (one for one in found if (one.get("source") or {}).get("component") == "cluster-autoscaler")
            return next((one for one in own if text in one["message"]), None)

        return until(look, SECONDS, f"no event of {name} with {text!r}")

    def end(self, *names: str) -> None:
        """Delete pods."""
        for name in names:
            self.client.delete(Ref("v1", "Pod", name, "default"), grace_seconds=0)


def deployment(*arguments: str) -> Object:
    container = {
        "name": "aws-cluster-autoscaler",
        "image": "registry.k8s.io/autoscaling/cluster-autoscaler:v1.36.1",
        "command": ["./cluster-autoscaler", *arguments],
    }
    labels = {"app": "autoscaler"}
    return {"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "cluster-autoscaler", "namespace": "default"}, "spec": {
            "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels},
                "spec": {"containers": [container], "nodeSelector": {"somewhere": "else"}}}}}  # fmt: skip


def inputs(pool: PoolSpec) -> dict[str, Any]:
    """Of the node group of a pool, as the program declares it."""
    return {
        "instanceTypes": [kind.name for kind in pool.instance_types],
        "scalingConfig": {"minSize": 0, "maxSize": pool.settings.max, "desiredSize": 0},
        "labels": dict(pool.labels),
        "taints": [{"key": each.key, "value": each.value, "effect": each.eks_effect} for each in pool.taints],
        "subnetIds": ["us-east-1a"],
    }


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    directory = tmp_path_factory.mktemp("autoscaler")
    plane = start_plane(directory, PROGRAMS)
    try:
        plane.pool.create(CLUSTER)
        writer = NodeWriter(plane.targets.of_cluster)
        registry = NodeRegistry(Facts(), writer.write, writer.remove)
        pool = spec(**MANAGED_A100)
        for tag in group_tags(pool, CLUSTER):
            registry.asg_tag_changed(f"asg-{GROUP}", tag.key, tag.value)
        registry.node_group_changed(CLUSTER, GROUP, inputs(pool), None)
        autoscaler = Autoscaler(plane.client, lambda: CLUSTER, registry, directory)
        autoscaler.start()
        account = Ref("v1", "ServiceAccount", "default", "default")
        until(lambda: plane.client.get(account), SECONDS, "no service account")
        yield World(plane.client, registry, directory, pool)
        autoscaler.stop()
        plane.life.end_all()
    finally:
        plane.supervisor.stop_all()


def test_without_the_autoscaler_a_group_at_zero_has_its_placeholder(world: World) -> None:
    assert world.nodes() == [f"{GROUP}-0"]


@pytest.fixture
def scaled(world: World) -> World:
    """The same, with the autoscaler, whichever test is the first."""
    if world.client.get(Ref("apps/v1", "Deployment", "cluster-autoscaler", "default")) is None:
        world.client.create(deployment(*FLAGS), "test")
    return world


def test_a_group_grows_from_zero_to_its_maximum_and_shrinks_again(scaled: World) -> None:
    until(lambda: scaled.nodes() == [] or None, SECONDS, "the placeholder is still there")
    scaled.pod("first")
    node = scaled.runs_on("first")
    assert scaled.event("first", f"pod triggered scale-up: [{{{GROUP} 0->1 (max: 2)}}]")["reason"] == "TriggeredScaleUp"
    assert existing(scaled.client, Ref("v1", "Node", node))["status"]["capacity"][GPU] == "8"
    scaled.pod("second")
    assert scaled.runs_on("second") != node
    scaled.pod("third")
    refused = scaled.event("third", "pod didn't trigger scale-up: 1 max node group size reached")
    assert refused["reason"] == "NotTriggerScaleUp"
    scaled.end("first", "third")
    # Numbers of nodes stay when one between them goes.
    until(lambda: len(scaled.nodes()) == 1 or None, SECONDS, "the empty node stays")
    assert scaled.runs_on("second") == scaled.nodes()[0]
    scaled.end("second")
    until(lambda: scaled.nodes() == [] or None, SECONDS, "the last node stays")


def test_a_pod_that_no_group_takes_adds_no_node_and_hears_why(scaled: World) -> None:
    scaled.pod("nine", 9)
    scaled.event("nine", f"pod didn't trigger scale-up: 1 Insufficient {GPU}")
    assert scaled.nodes() == []
    scaled.end("nine")


def test_a_group_waits_for_capacity_of_ec2(scaled: World) -> None:
    kind = scaled.pool.instance_types[0].name
    ec2.write(scaled.home, Ec2((Refusal(instance_type=kind),)))
    scaled.pod("waiting")
    scaled.event("waiting", "pod triggered scale-up")
    assert scaled.nodes() == []
    ec2.write(scaled.home, Ec2())
    scaled.runs_on("waiting")
    scaled.end("waiting")


def test_the_limits_of_the_group_hold_when_they_change(scaled: World) -> None:
    shut = {**inputs(scaled.pool), "scalingConfig": {"minSize": 0, "maxSize": 0, "desiredSize": 0}}
    scaled.pod("shut")
    scaled.runs_on("shut")
    scaled.registry.node_group_changed(CLUSTER, GROUP, shut, None)
    until(lambda: scaled.nodes() == [] or None, SECONDS, "a node is left of a group of at most none")
    least = {**inputs(scaled.pool), "scalingConfig": {"minSize": 1, "maxSize": 2, "desiredSize": 1}}
    scaled.registry.node_group_changed(CLUSTER, GROUP, least, None)
    assert len(scaled.nodes()) == 1
