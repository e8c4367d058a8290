"""The whole network: changes of zones and NAT mode, security, protection."""

import ipaddress
from typing import Any

import pulumi
import pulumi_aws as aws

from components.network import Network, NetworkArgs
from tests.support.mocks import Recording, Registered, providers, run
from tests.support.settings import CLUSTER_NAME, account, network

ENDPOINTS = ["ecr.api", "ecr.dkr", "sts"]


def record(letters: str = "ab", *, preview: bool = False, protect: bool = False, **more: Any) -> Recording:
    def build() -> dict[str, Any]:
        args = NetworkArgs(
            settings=network(letters, **more), account=account(), cluster_name=CLUSTER_NAME, protect=protect
        )
        outputs = Network("network", args, pulumi.ResourceOptions(providers=providers())).outputs
        return {"vpcId": outputs.vpc_id, "cidr": outputs.vpc_cidr, "zones": outputs.zones,
            "private": outputs.private_subnets, "public": outputs.public_subnets, "pods": outputs.pod_subnets,
            "ready": [resource.urn for resource in outputs.ready]}  # fmt: skip

    return run(build, preview=preview)


def differing(one: Recording, other: Recording) -> dict[str, set[str]]:
    """Resources in both recordings whose inputs differ: names, with the keys of those inputs."""
    differences = {}
    for urn in one.resources.keys() & other.resources.keys():
        before, after = one.resources[urn].inputs, other.resources[urn].inputs
        keys = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
        if keys:
            differences[one.resources[urn].name] = keys
    return differences


def test_adding_a_zone_changes_only_shared_lists() -> None:
    before = record("ac", podCidr="100.64.0.0/16", nat="per-zone", endpoints=ENDPOINTS)
    after = record("abc", podCidr="100.64.0.0/16", nat="per-zone", endpoints=ENDPOINTS)
    assert before.resources.keys() < after.resources.keys()
    assert {name for _, name in _added(before, after) if not name.endswith("-b")} == set()
    assert differing(before, after) == {
        "network-endpoint-s3": {"routeTableIds"},
        "network-endpoint-ecr-api": {"subnetIds"},
        "network-endpoint-ecr-dkr": {"subnetIds"},
        "network-endpoint-sts": {"subnetIds"},
    }


def test_changing_the_nat_mode_changes_only_routes() -> None:
    single, each = record("abc", nat="single"), record("abc", nat="per-zone")
    assert single.resources.keys() < each.resources.keys()
    assert {name for _, name in _added(single, each)} == {
        *(f"network-route-nat-{letter}" for letter in "bc"),
        *(f"network-route-nat-address-{letter}" for letter in "bc"),
    }
    assert differing(single, each) == {
        "network-route-private-default-b": {"natGatewayId"},
        "network-route-private-default-c": {"natGatewayId"},
    }


def test_no_security_group_rule_allows_the_internet() -> None:
    recording = record(podCidr="100.64.0.0/16", endpoints=ENDPOINTS)
    rules = recording.of(aws.vpc.SecurityGroupIngressRule).values()
    assert rules
    for rule in rules:
        assert ipaddress.ip_network(rule.inputs["cidrIpv4"]).is_private or rule.inputs["cidrIpv4"] == "100.64.0.0/16"
        assert rule.inputs["description"]
    assert not recording.of(aws.vpc.SecurityGroupEgressRule)
    for group in recording.of(aws.ec2.SecurityGroup).values():
        assert group.inputs["description"]
        assert "ingress" not in group.inputs
        assert "egress" not in group.inputs


def _added(before: Recording, after: Recording) -> set[tuple[str, str]]:
    fresh: list[Registered] = [after.resources[urn] for urn in after.resources.keys() - before.resources.keys()]
    return {(resource.type, resource.name) for resource in fresh}


def test_order_and_duplicates_in_the_stack_file_are_irrelevant() -> None:
    one, other = record(endpoints=["sts", "ecr.api"]), record(endpoints=["ecr.api", "sts", "ecr.api"])
    assert {urn: resource.inputs for urn, resource in one.resources.items()} == {
        urn: resource.inputs for urn, resource in other.resources.items()
    }
