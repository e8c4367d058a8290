from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from sandbox.errors import SandboxError
from sandbox.nodes.groups import ENABLED_TAG, RESOURCE_TAG
from sandbox.nodes.registry import NodeRegistry
from sandbox.nodes.spec import NodeSpec

GROUP = {"instanceTypes": ["p4d.24xlarge"], "scalingConfig": {"desiredSize": 2}}
POOL = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodePool",
    "metadata": {"name": "gpu"},
    "spec": {"template": {"spec": {"nodeClassRef": {"name": "gpu"}, "requirements": [
                    {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["p4d.24xlarge"]}]}}},
}  # fmt: skip


@dataclass
class Cluster:
    """The nodes that a cluster's API server would have, and the number of writes."""

    nodes: dict[str, NodeSpec] = field(default_factory=dict)
    writes: int = 0
    running: bool = True
    stuck: bool = False
    drained: list[tuple[str, ...]] = field(default_factory=list)
    """The nodes that there were when some were emptied."""

    def drain(self, cluster: str, group: str, names: Sequence[str], *, forced: bool) -> None:
        assert set(names) < set(self.nodes)
        self.drained.append(tuple(self.nodes))
        if self.stuck and not forced:
            msg = "PodEvictionFailure"
            raise SandboxError(msg)

    def write(self, cluster: str, spec: NodeSpec) -> bool:
        if self.running:
            self.nodes[spec.name] = spec
            self.writes += 1
        return self.running

    def remove(self, cluster: str, name: str) -> None:
        del self.nodes[name]


class Facts:
    def zone_of(self, subnet: str) -> str | None:
        return "us-east-1a"

    def asg_of(self, cluster: str, node_group: str) -> str | None:
        return f"asg-{node_group}"


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


@pytest.fixture
def registry(cluster: Cluster) -> NodeRegistry:
    return NodeRegistry(Facts(), cluster.write, cluster.remove, drain=cluster.drain)


def test_nodes_follow_their_group(registry: NodeRegistry, cluster: Cluster) -> None:
    registry.node_group_changed("dev", "a100", GROUP, None)
    assert set(cluster.nodes) == {"a100-0", "a100-1"}
    smaller = {**GROUP, "scalingConfig": {"desiredSize": 1}, "labels": {"a": "b"}}
    registry.node_group_changed("dev", "a100", smaller, None)
    assert set(cluster.nodes) == {"a100-0"}
    assert cluster.nodes["a100-0"].labels["a"] == "b"
    registry.node_group_deleted("dev", "a100")
    assert cluster.nodes == {}


@pytest.mark.parametrize("autoscaled", [True, False])
@pytest.mark.parametrize("change", [{"version": "1.36"}, {"releaseVersion": "1.35.0-20261101"}])
def test_nodes_of_another_image_come_before_the_old_ones_go(
    registry: NodeRegistry, cluster: Cluster, change: dict[str, str], autoscaled: bool
) -> None:
    group = {**GROUP, "scalingConfig": {"desiredSize": 2, "maxSize": 4}, "version": "1.35"}
    registry.node_group_changed("dev", "a100", group, None)
    if autoscaled:
        registry.resize("dev", "a100", (0, 3))
    old = set(cluster.nodes)
    registry.node_group_changed("dev", "a100", {**group, **change}, None)
    assert set(cluster.drained[0]) > old
    assert len(cluster.nodes) == 2
    assert not old & set(cluster.nodes)
    registry.node_group_changed("dev", "a100", {**group, **change, "labels": {"a": "b"}}, None)
    assert len(cluster.drained) == 1


@pytest.mark.parametrize("forced", [False, True])
def test_nodes_that_pods_do_not_leave_stay_until_the_next_update(
    registry: NodeRegistry, cluster: Cluster, forced: bool
) -> None:
    registry.node_group_changed("dev", "a100", {**GROUP, "version": "1.35"}, None)
    cluster.stuck = True
    with pytest.raises(SandboxError, match="PodEvictionFailure"):
        registry.node_group_changed("dev", "a100", {**GROUP, "version": "1.36"}, None)
    assert len(cluster.nodes) == 4
    cluster.stuck = forced
    group = {**GROUP, "version": "1.36", "forceUpdateVersion": forced}
    registry.node_group_changed("dev", "a100", group, None)
    assert set(cluster.nodes) == {"a100-2", "a100-3"}


def test_nodes_of_an_unchanged_group_are_not_written_again(registry: NodeRegistry, cluster: Cluster) -> None:
    registry.node_group_changed("dev", "a100", GROUP, None)
    registry.node_group_changed("dev", "a100", dict(GROUP), None)
    registry.node_group_changed("dev", "other", {**GROUP, "scalingConfig": {"desiredSize": 1}}, None)
    assert cluster.writes == 3


@pytest.mark.parametrize("tag_first", [True, False])
def test_tags_of_the_auto_scaling_group_count_before_or_after_the_group(
    registry: NodeRegistry, cluster: Cluster, tag_first: bool
) -> None:
    def tag(value: str | None) -> None:
        registry.asg_tag_changed("asg-a100", f"{RESOURCE_TAG}nvidia.com/mig-1g.5gb", value)

    if tag_first:
        tag("56")
    registry.node_group_changed("dev", "a100", GROUP, None)
    if not tag_first:
        tag("56")
    assert cluster.nodes["a100-0"].capacity["nvidia.com/mig-1g.5gb"] == "56"
    tag(None)
    assert cluster.nodes["a100-0"].capacity["nvidia.com/gpu"] == "8"


def test_a_node_pool_has_one_placeholder_node_with_its_class_and_overlays(
    registry: NodeRegistry, cluster: Cluster
) -> None:
    registry.object_changed("dev", POOL)
    assert cluster.nodes["gpu-0"].capacity["nvidia.com/gpu"] == "8"
    node_class = {"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "gpu"}}
    registry.object_changed("dev", {**node_class, "spec": {"kubelet": {"maxPods": 42}}})
    assert cluster.nodes["gpu-0"].capacity["pods"] == "42"
    overlay = {"apiVersion": "karpenter.sh/v1alpha1", "kind": "NodeOverlay", "metadata": {"name": "mig"}}
    registry.object_changed("dev", {**overlay, "spec": {"capacity": {"nvidia.com/mig-1g.5gb": "56"}}})
    assert cluster.nodes["gpu-0"].capacity["nvidia.com/gpu"] == "0"
    registry.object_deleted("dev", overlay)
    assert cluster.nodes["gpu-0"].capacity["nvidia.com/gpu"] == "8"
    registry.object_deleted("dev", POOL)
    assert cluster.nodes == {}


def test_objects_of_other_kinds_are_ignored(registry: NodeRegistry, cluster: Cluster) -> None:
    other: dict[str, Any] = {"apiVersion": "example.com/v1", "kind": "NodePool", "metadata": {"name": "x"}}
    registry.object_changed("dev", other)
    registry.object_deleted("dev", other)
    assert cluster.writes == 0


def test_a_recreated_cluster_gets_its_nodes_again(registry: NodeRegistry, cluster: Cluster) -> None:
    registry.node_group_changed("dev", "a100", GROUP, None)
    registry.existing_clusters(["other"])
    cluster.nodes.clear()
    registry.node_group_changed("dev", "a100", GROUP, None)
    assert set(cluster.nodes) == {"a100-0", "a100-1"}


def test_failed_writes_of_nodes_are_retried(registry: NodeRegistry, cluster: Cluster) -> None:
    cluster.running = False
    registry.node_group_changed("dev", "a100", GROUP, None)
    cluster.running = True
    registry.node_group_changed("dev", "a100", GROUP, None)
    assert set(cluster.nodes) == {"a100-0", "a100-1"}


def test_where_karpenter_runs_its_pools_have_no_placeholders(cluster: Cluster) -> None:
    registry = NodeRegistry(Facts(), cluster.write, cluster.remove, lambda name: name == "elastic")
    registry.object_changed("elastic", POOL)
    assert cluster.nodes == {}
    registry.node_group_changed("elastic", "system", GROUP, None)
    assert len(cluster.nodes) == 2
    registry.object_changed("another", POOL)
    assert "gpu-0" in cluster.nodes


def test_a_group_replaces_an_instance_that_ends_by_a_node_of_another_name(
    registry: NodeRegistry, cluster: Cluster
) -> None:
    registry.node_group_changed("dev", "a100", GROUP, None)
    cluster.remove("dev", "a100-0")
    registry.instance_ended("dev", "a100-0")
    assert set(cluster.nodes) == {"a100-1", "a100-2"}
    registry.instance_ended("dev", "cpu-0")
    assert set(cluster.nodes) == {"a100-1", "a100-2"}
    larger = {**GROUP, "scalingConfig": {"desiredSize": 3}}
    registry.node_group_changed("dev", "a100", larger, None)
    assert set(cluster.nodes) == {"a100-1", "a100-2", "a100-3"}


def test_eks_repairs_the_nodes_of_a_group_that_says_so(registry: NodeRegistry) -> None:
    registry.node_group_changed("dev", "a100", {**GROUP, "nodeRepairConfig": {"enabled": True}}, None)
    registry.node_group_changed("dev", "cpu", {**GROUP, "nodeRepairConfig": {"enabled": False}}, None)
    registry.node_group_changed("dev", "system", GROUP, None)
    assert [registry.repairs("dev", name) for name in ("a100", "cpu", "system", "")] == [True, False, False, False]


def test_the_autoscaler_finds_the_node_that_replaces_another(registry: NodeRegistry, cluster: Cluster) -> None:
    registry.node_group_changed("dev", "a100", {**GROUP, "scalingConfig": {"desiredSize": 0, "maxSize": 4}}, None)
    registry.asg_tag_changed("asg-a100", ENABLED_TAG, "true")
    registry.resize("dev", "a100", (0, 1))
    cluster.remove("dev", "a100-1")
    registry.instance_ended("dev", "a100-1")
    assert set(cluster.nodes) == {"a100-0", "a100-2"}
    (found,) = registry.scalable("dev")
    assert found.nodes == {0: "a100-0", 2: "a100-2"}
