"""The fabric of an EFA pool: a security group that allows traffic with itself in both directions."""

import pulumi_aws as aws
import pytest

from tests.components.pools.samples import MANAGED_A100, ONE_ZONE, record_fleet
from tests.support.mocks import Recording

POOLS = {
    "managed": {**MANAGED_A100, "efa": True, "zones": ONE_ZONE},
    "elastic": {"preset": "h100", "efa": True, "zones": ONE_ZONE},
}


@pytest.fixture(scope="module")
def recording() -> Recording:
    return record_fleet(POOLS)


@pytest.mark.parametrize("pool", POOLS)
def test_the_group_allows_traffic_with_itself(recording: Recording, pool: str) -> None:
    group = recording.of(aws.ec2.SecurityGroup)[f"pool-{pool}-fabric-security-group"]
    entering = recording.of(aws.vpc.SecurityGroupIngressRule)[f"pool-{pool}-fabric-from-itself"]
    leaving = recording.of(aws.vpc.SecurityGroupEgressRule)[f"pool-{pool}-fabric-to-itself"]
    for rule in (entering, leaving):
        assert rule.inputs["ipProtocol"] == "-1"
        assert rule.input_sources["securityGroupId"] == (group.urn,)
        assert rule.input_sources["referencedSecurityGroupId"] == (group.urn,)
        assert "cidrIpv4" not in rule.inputs


def test_no_other_ingress_is_allowed(recording: Recording) -> None:
    assert all("cidrIpv4" not in rule.inputs for rule in recording.of(aws.vpc.SecurityGroupIngressRule).values())


def test_every_group_and_rule_has_a_description(recording: Recording) -> None:
    kinds = (aws.ec2.SecurityGroup, aws.vpc.SecurityGroupIngressRule, aws.vpc.SecurityGroupEgressRule)
    resources = [resource for kind in kinds for resource in recording.of(kind).values()]
    assert len(resources) == 6
    assert all(resource.inputs["description"] for resource in resources)


def test_the_group_has_tags_with_cluster_and_pool_for_karpenter(recording: Recording) -> None:
    group = recording.of(aws.ec2.SecurityGroup)["pool-elastic-fabric-security-group"]
    assert group.inputs["tags"] == {"platform.slipway/cluster": "slipway-test", "platform.slipway/pool": "elastic"}
