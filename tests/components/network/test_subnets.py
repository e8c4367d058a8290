"""Tags of subnets, by which controllers find them."""

from __future__ import annotations

from typing import Any

import pulumi_aws as aws

from tests.components.network.test_network import record


def _tags(kind: str, **more: Any) -> dict[str, str]:
    tags: dict[str, str] = record(**more).of(aws.ec2.Subnet)[f"network-subnet-{kind}-a"].inputs["tags"]
    return tags


def test_subnets_have_the_tags_of_public_and_internal_load_balancers() -> None:
    assert _tags("public") == {"Name": "slipway-test-public-a", "kubernetes.io/role/elb": "1"}
    assert _tags("private")["kubernetes.io/role/internal-elb"] == "1"


def test_only_node_subnets_have_karpenters_tag() -> None:
    recording = record(podCidr="100.64.0.0/16")
    names = {
        name
        for name, subnet in recording.of(aws.ec2.Subnet).items()
        if subnet.inputs["tags"].get("karpenter.sh/discovery") == "slipway-test"
    }
    assert names == {"network-subnet-private-a", "network-subnet-private-b"}


def test_the_cni_uses_pod_subnets_if_there_are_any() -> None:
    assert _tags("pods", podCidr="100.64.0.0/16") == {"Name": "slipway-test-pods-a", "kubernetes.io/role/cni": "1"}
    assert _tags("private", podCidr="100.64.0.0/16")["kubernetes.io/role/cni"] == "0"
    assert "kubernetes.io/role/cni" not in _tags("private")


def test_only_pod_subnets_depend_on_the_secondary_cidr() -> None:
    recording = record(podCidr="100.64.0.0/16")
    association = recording.one(aws.ec2.VpcIpv4CidrBlockAssociation)
    assert association.inputs["cidrBlock"] == "100.64.0.0/16"
    subnets = recording.of(aws.ec2.Subnet)
    assert recording.waits(subnets["network-subnet-pods-a"], association)
    assert not recording.waits(subnets["network-subnet-private-a"], association)


def test_cidrs_follow_from_the_zone_letter() -> None:
    subnets = record("bd").of(aws.ec2.Subnet)
    assert subnets["network-subnet-private-b"].inputs["cidrBlock"] == "10.16.32.0/19"
    assert subnets["network-subnet-private-d"].inputs["cidrBlock"] == "10.16.96.0/19"
    assert subnets["network-subnet-public-d"].inputs["cidrBlock"] == "10.16.236.0/22"
