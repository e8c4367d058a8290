"""IAM roles of nodes."""

from __future__ import annotations

import json
from typing import Any

import pulumi_aws as aws
import pytest

from tests.components.pools.samples import record_fleet
from tests.support.mocks import ACCOUNT, REGION, Recording

CLUSTER = "slipway-test"
CACHES = {"nodes-role-caches", "karpenter-nodes-role-caches"}


@pytest.fixture(scope="module")
def recording() -> Recording:
    return record_fleet({"cpu": {"preset": "cpu"}})


@pytest.mark.parametrize("role", ["nodes-role", "karpenter-nodes-role"])
def test_a_node_can_only_join_pull_images_and_use_session_manager(recording: Recording, role: str) -> None:
    attached = {
        resource.inputs["policyArn"].rpartition("/")[2]
        for name, resource in recording.of(aws.iam.RolePolicyAttachment).items()
        if name.rpartition("-")[0] == role
    }
    assert attached == {
        "AmazonEKSWorkerNodePolicy",
        "AmazonEC2ContainerRegistryPullOnly",
        "AmazonSSMManagedInstanceCore",
    }


def test_only_ec2_can_assume_the_role(recording: Recording) -> None:
    trust = json.loads(recording.of(aws.iam.Role)["nodes-role"].inputs["assumeRolePolicy"])
    assert [statement["Principal"] for statement in trust["Statement"]] == [{"Service": ["ec2.amazonaws.com"]}]


def test_only_karpenters_node_role_has_an_access_entry(recording: Recording) -> None:
    entry = recording.one(aws.eks.AccessEntry)
    assert entry.name == "karpenter-nodes-access-entry"
    assert entry.inputs["type"] == "EC2_LINUX"
    assert entry.input_sources["principalArn"] == (recording.of(aws.iam.Role)["karpenter-nodes-role"].urn,)


def test_only_karpenters_nodes_have_an_instance_profile(recording: Recording) -> None:
    assert recording.one(aws.iam.InstanceProfile).name == "karpenter-nodes-instance-profile"


def test_without_caches_nodes_cannot_create_repositories(recording: Recording) -> None:
    assert not recording.of(aws.iam.RolePolicy).keys() & CACHES


def test_nodes_can_fill_only_configured_caches() -> None:
    registry: dict[str, Any] = {"caches": {"k8s": {}, "quay": {}}}
    policies = record_fleet({"cpu": {"preset": "cpu"}}, storage={"registry": registry}).of(aws.iam.RolePolicy)
    assert policies.keys() >= CACHES
    for name in CACHES:
        (statement,) = json.loads(policies[name].inputs["policy"])["Statement"]
        assert statement["Action"] == ["ecr:BatchImportUpstreamImage", "ecr:CreateRepository"]
        prefixes = [arn.partition(":repository/")[2] for arn in statement["Resource"]]
        assert prefixes == [f"{CLUSTER}/k8s/*", f"{CLUSTER}/quay/*"]
        assert all(arn.startswith(f"arn:aws:ecr:{REGION}:{ACCOUNT}:") for arn in statement["Resource"])
