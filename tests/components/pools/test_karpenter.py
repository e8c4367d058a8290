"""Karpenter pools: resources and dependencies."""

from typing import Any

import pulumi_aws as aws
import pytest
from pulumi_kubernetes.helm.v3 import Release

from components.pools.nodeclass import NodeClassArgs, node_class
from tests.components.pools.samples import ONE_ZONE, record_fleet, spec
from tests.support.mocks import Recording

NODE_POOL = "kubernetes:karpenter.sh/v1:NodePool"
NODE_CLASS = "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass"
OVERLAY = "kubernetes:karpenter.sh/v1alpha1:NodeOverlay"
POOLS: dict[str, dict[str, Any]] = {
    "cpu": {"preset": "cpu"},
    "sliced": {"preset": "a100", "mig": {"layout": "all-1g.5gb"}},
    "wide": {"preset": "h100", "efa": True, "zones": ONE_ZONE},
}


@pytest.fixture(scope="module")
def recording() -> Recording:
    return record_fleet(POOLS)


def test_every_pool_has_a_node_pool_and_a_node_class_with_its_name(recording: Recording) -> None:
    for kind, suffix in ((NODE_POOL, "node-pool"), (NODE_CLASS, "node-class")):
        resources = recording.of(kind)
        assert sorted(resources) == sorted(f"pool-{name}-{suffix}" for name in POOLS)
        names = {resource.inputs["metadata"]["name"] for resource in resources.values()}
        assert names == set(POOLS)


def test_only_partitioned_gpus_have_an_overlay(recording: Recording) -> None:
    assert recording.one(OVERLAY).name == "pool-sliced-overlay"
    assert recording.waits(recording.of(NODE_POOL)["pool-sliced-node-pool"], recording.one(OVERLAY))


def test_a_node_pool_depends_on_everything_that_its_nodes_need(recording: Recording) -> None:
    pool = recording.of(NODE_POOL)["pool-wide-node-pool"]
    before = [
        recording.of(NODE_CLASS)["pool-wide-node-class"],
        recording.of(Release)["karpenter-release"],
        recording.of(Release)["karpenter-crd"],
        recording.of(aws.eks.NodeGroup)["pool-system-node-group"],
        recording.of(aws.iam.RolePolicy)["karpenter-controller-policy"],
        recording.of(aws.eks.PodIdentityAssociation)["karpenter-association"],
        recording.of(aws.iam.RolePolicyAttachment)["karpenter-nodes-role-worker"],
        recording.one(aws.sqs.Queue),
        recording.one(aws.eks.AccessEntry),
        recording.one(aws.ec2.SecurityGroup),
        recording.one(aws.ec2.PlacementGroup),
    ]
    assert [resource.name for resource in before if not recording.waits(pool, resource)] == []


def test_pools_are_deleted_explicitly_and_everything_else_with_the_cluster(recording: Recording) -> None:
    cluster = recording.one(aws.eks.Cluster).urn
    for kind in (NODE_POOL, NODE_CLASS):
        assert {resource.deleted_with for resource in recording.of(kind).values()} == {None}
    for kind in (OVERLAY, "kubernetes:helm.sh/v3:Release"):
        assert {resource.deleted_with for resource in recording.of(kind).values()} == {cluster}


def test_deleting_a_node_pool_may_take_as_long_as_its_drains(recording: Recording) -> None:
    """A drain lasts up to `terminationGracePeriod`, which is 48h unless set."""
    assert recording.of(NODE_POOL)["pool-cpu-node-pool"].timeouts["delete"] == "49h"
    short = record_fleet({"cpu": {"preset": "cpu", "disruption": {"terminationGracePeriod": "1h30m"}}})
    assert short.of(NODE_POOL)["pool-cpu-node-pool"].timeouts["delete"] == "3h"


def test_everything_except_names_chosen_by_aws_is_known_in_a_first_preview() -> None:
    recording = record_fleet(POOLS, preview=True)
    for kind in (NODE_POOL, NODE_CLASS, OVERLAY):
        for resource in recording.of(kind).values():
            known = {
                key: value
                for key, value in resource.inputs["spec"].items()
                if key not in {"instanceProfile", "placementGroupSelector"}
            }
            assert "unknown" not in str(known).lower()


def manifest(placement_group: str | None = None, **pool: Any) -> dict[str, Any]:
    return node_class(
        NodeClassArgs(
            spec=spec(**pool),
            cluster="ml",
            instance_profile="ml-nodes",
            placement_group=placement_group,
            tags={"owner": "ml-platform"},
        )
    )


def test_an_efa_pool_has_interfaces_security_group_and_placement_group() -> None:
    result = manifest(placement_group="together", preset="h100", efa=True, zones=ONE_ZONE)
    assert result["networkInterfaces"][:2] == [
        {"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface"},
        {"networkCardIndex": 0, "deviceIndex": 1, "interfaceType": "efa-only"},
    ]
    assert len(result["networkInterfaces"]) == 33
    assert result["placementGroupSelector"] == {"name": "together"}
    assert result["securityGroupSelectorTerms"][1] == {
        "tags": {"platform.slipway/cluster": "ml", "platform.slipway/pool": "work"}
    }
    assert "networkInterfaces" not in manifest(preset="h100")
