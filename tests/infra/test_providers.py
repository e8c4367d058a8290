"""The providers of the stacks: whose account they change, and what goes with the cluster that one of them reaches."""

import json

import pytest

from tests.support.stacks import NAMES, platform_of, recorded

OUTLIVES = ("kubernetes:karpenter.k8s.aws/v1:EC2NodeClass", "kubernetes:karpenter.sh/v1:NodePool")
"""Deleted before the cluster, because instances in EC2 go with them."""


@pytest.mark.parametrize("stack", NAMES)
def test_aws_is_the_account_and_the_region_of_the_settings(stack: str) -> None:
    (provider,) = [one for one in recorded(stack) if one.type == "pulumi:providers:aws"]
    account = platform_of(stack).account
    assert json.loads(provider.inputs.plain["allowedAccountIds"]) == [account.id]
    assert provider.inputs.plain["region"] == account.region


@pytest.mark.parametrize("stack", NAMES)
def test_objects_go_with_their_cluster_but_those_that_own_instances(stack: str) -> None:
    (cluster,) = [one.urn for one in recorded(stack) if one.type == "aws:eks/cluster:Cluster"]
    objects = [one for one in recorded(stack) if one.type.startswith("kubernetes:")]
    assert {one.type for one in objects if one.options.deleted_with is None} == set(OUTLIVES)
    assert {one.options.deleted_with for one in objects} == {cluster, None}
