"""All node pools of a platform."""

import re
from typing import Any

import pulumi_aws as aws
import pytest
from pulumi_kubernetes.helm.v3 import Release

from tests.components.pools.samples import BLOCK, MANAGED_A100, record_fleet
from tests.support.mocks import Recording

POOLS: dict[str, dict[str, Any]] = {"cpu": {"preset": "cpu"}, "fixed": {**BLOCK}, "zero": {**MANAGED_A100}}
FIXED_SYSTEM = {"preset": "system", "min": 2, "max": 2}


@pytest.fixture(scope="module")
def recording() -> Recording:
    return record_fleet(POOLS)


def registered(recording: Recording) -> dict[str, Any]:
    return {resource.urn: (resource.inputs, resource.depends_on, resource.outputs) for resource in recording}


def test_logical_names_consist_of_component_role_and_key(recording: Recording) -> None:
    top = re.compile(r"^(cluster-autoscaler|karpenter|karpenter-nodes|nodes|pool-(cpu|fixed|system|zero))(-|$)")
    fixtures = {"aws", "cluster", "kubernetes"}
    names = [resource.name for resource in recording if resource.name not in fixtures]
    assert [name for name in names if not top.match(name)] == []
    assert not [name for name in names if re.search(r"us-east-1|111122223333|slipway-test", name)]


def test_adding_a_pool_changes_no_other_resources() -> None:
    before = {"a": POOLS["cpu"], "z": POOLS["zero"]}
    for added in (POOLS["cpu"], POOLS["fixed"], POOLS["zero"]):
        one = registered(record_fleet(before))
        other = registered(record_fleet({"a": before["a"], "middle": added, "z": before["z"]}))
        assert {urn: other.get(urn) for urn in one} == one
        assert all("pool-middle" in urn for urn in set(other) - set(one))


def test_the_first_mig_pool_changes_only_karpenters_release() -> None:
    sliced = {"preset": "a100", "mig": {"layout": "all-1g.5gb"}}
    before = registered(record_fleet({"a": POOLS["cpu"]}))
    after = registered(record_fleet({"a": POOLS["cpu"], "middle": sliced}))
    changed = {urn.rpartition("::")[2] for urn, rule in before.items() if after[urn] != rule}
    assert changed == {"karpenter-release"}


def test_the_order_in_the_stack_file_is_irrelevant() -> None:
    assert registered(record_fleet(POOLS)) == registered(record_fleet(dict(reversed(POOLS.items()))))


def test_cluster_autoscaler_is_installed_only_for_groups_that_scale() -> None:
    scaling = record_fleet({"system": FIXED_SYSTEM, "zero": POOLS["zero"]})
    assert "cluster-autoscaler-release" in scaling.of(Release)
    assert "cluster-autoscaler-release" in record_fleet({}).of(Release), "the system pool of the preset scales"
    fixed = record_fleet({"system": FIXED_SYSTEM, "cpu": POOLS["cpu"]})
    assert "cluster-autoscaler-release" not in fixed.of(Release)


def test_karpenter_is_installed_only_for_its_pools() -> None:
    recording = record_fleet({"fixed": POOLS["fixed"]})
    assert "karpenter-release" not in recording.of(Release)
    assert not recording.of(aws.sqs.Queue)
    assert not recording.of(aws.iam.InstanceProfile)


def test_managed_groups_do_not_depend_on_each_other(recording: Recording) -> None:
    groups = recording.of(aws.eks.NodeGroup)
    for one in groups.values():
        assert not any(recording.waits(one, other) for other in groups.values() if other is not one)


def test_controllers_depend_only_on_the_system_pool(recording: Recording) -> None:
    groups = recording.of(aws.eks.NodeGroup)
    for name in ("karpenter-release", "cluster-autoscaler-release"):
        release = recording.of(Release)[name]
        awaited = {pool for pool, group in groups.items() if recording.waits(release, group)}
        assert awaited == {"pool-system-node-group"}


def test_crds_depend_on_no_node(recording: Recording) -> None:
    crds = recording.of(Release)["karpenter-crd"]
    assert not any(recording.waits(crds, group) for group in recording.of(aws.eks.NodeGroup).values())


def test_all_managed_groups_share_one_role(recording: Recording) -> None:
    sources = {group.input_sources["nodeRoleArn"] for group in recording.of(aws.eks.NodeGroup).values()}
    assert sources == {(recording.of(aws.iam.Role)["nodes-role"].urn,)}


def test_in_an_isolated_network_karpenter_does_not_query_prices() -> None:
    endpoints = ["ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "logs", "sqs", "ssm", "sts"]
    network = {"cidr": "10.0.0.0/16", "podCidr": "100.64.0.0/16", "zones": ["us-east-1a", "us-east-1b", "us-east-1c"],
        "peers": {"office": "192.168.0.0/16"}, "nat": "none", "endpoints": endpoints}  # fmt: skip
    closed = record_fleet({"cpu": POOLS["cpu"]}, network=network)
    assert closed.of(Release)["karpenter-release"].inputs["values"]["settings"]["isolatedVPC"] is True
