"""The whole network: changes of zones and NAT mode, security, protection."""

from __future__ import annotations

import ipaddress
from typing import Any

import pulumi
import pulumi_aws as aws
import pytest

from components.network import Network, NetworkArgs
from tests.support.mocks import UNKNOWN, Recording, Registered, providers, run
from tests.support.settings import CLUSTER_NAME, account, network

ENDPOINTS = ["ecr.api", "ecr.dkr", "sts"]


def record(letters: str = "ab", *, preview: bool = False, protect: bool = False, **more: Any) -> Recording:
    def build() -> dict[str, Any]:
        args = NetworkArgs(
            settings=network(letters, **more), account=account(), cluster_name=CLUSTER_NAME, protect=protect
        )
        outputs = Network("network", args, pulumi.ResourceOptions(providers=providers())).outputs
        return {
            "vpcId": outputs.vpc_id,
            "cidr": outputs.vpc_cidr,
            "zones": outputs.zones,
            "private": outputs.private_subnets,
            "public": outputs.public_subnets,
            "pods": outputs.pod_subnets,
            "ready": [resource.urn for resource in outputs.ready],
        }

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


def test_the_single_nat_gateway_is_in_the_first_zone() -> None:
    recording = record("cba", nat="single")
    assert set(recording.of(aws.ec2.NatGateway)) == {"network-route-nat-a"}
    public = recording.of(aws.ec2.Subnet)["network-subnet-public-a"]
    assert recording.one(aws.ec2.NatGateway).input_sources["subnetId"] == (public.urn,)


def test_without_nat_private_subnets_have_no_default_route_and_nodes_depend_on_endpoints() -> None:
    recording = record(nat="none", endpoints=ENDPOINTS)
    assert not recording.of(aws.ec2.NatGateway)
    assert not recording.of(aws.ec2.Eip)
    assert set(recording.of(aws.ec2.Route)) == {"network-route-public-default"}
    endpoints = {endpoint.urn for endpoint in recording.of(aws.ec2.VpcEndpoint).values()}
    assert endpoints <= set(recording.returned["ready"])


def test_with_nat_nodes_depend_on_routes_and_not_on_endpoints() -> None:
    recording = record(endpoints=ENDPOINTS)
    names = {recording.resources[urn].name for urn in recording.returned["ready"]}
    assert names == {
        *(f"network-route-private-default-{letter}" for letter in "ab"),
        *(f"network-route-private-association-{letter}" for letter in "ab"),
    }


def test_a_nat_gateway_depends_on_the_route_of_its_subnet() -> None:
    recording = record()
    nat, route = recording.one(aws.ec2.NatGateway), recording.of(aws.ec2.Route)["network-route-public-default"]
    association = recording.of(aws.ec2.RouteTableAssociation)["network-route-public-association-a"]
    assert recording.waits(nat, route)
    assert recording.waits(nat, association)


def test_every_private_subnet_has_the_route_table_of_its_zone() -> None:
    recording = record("ab", podCidr="100.64.0.0/16")
    associations = recording.of(aws.ec2.RouteTableAssociation)
    for kind in ("private", "pods"):
        for letter in "ab":
            table = recording.of(aws.ec2.RouteTable)[f"network-route-private-{letter}"]
            association = associations[f"network-route-{kind}-association-{letter}"]
            assert association.input_sources["routeTableId"] == (table.urn,)


def test_resources_with_state_are_protected_only_if_configured() -> None:
    assert record().protected == set()
    assert record(protect=True).protected == {
        "network-vpc",
        "network-flow-logs-key",
        "network-flow-logs-group",
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


def test_the_default_security_group_is_emptied() -> None:
    group = record().one(aws.ec2.DefaultSecurityGroup)
    assert group.inputs["ingress"] == group.inputs["egress"] == []


def test_no_subnet_assigns_public_addresses() -> None:
    subnets = record(podCidr="100.64.0.0/16").of(aws.ec2.Subnet)
    assert len(subnets) == 6
    assert {subnet.inputs["mapPublicIpOnLaunch"] for subnet in subnets.values()} == {False}


def test_the_vpc_resolves_names_of_its_private_endpoints() -> None:
    vpc = record().one(aws.ec2.Vpc)
    assert vpc.inputs["enableDnsSupport"] is vpc.inputs["enableDnsHostnames"] is True


def test_outputs_map_zones_to_subnets() -> None:
    recording = record("ab", podCidr="100.64.0.0/16")
    returned = recording.returned
    assert returned["zones"] == {"a": "us-east-1a", "b": "us-east-1b"}
    assert returned["cidr"] == "10.16.0.0/16"
    for kind in ("private", "public", "pods"):
        subnets = recording.of(aws.ec2.Subnet)
        assert set(returned[kind]) == {"a", "b"}
        for letter in "ab":
            assert subnets[f"network-subnet-{kind}-{letter}"].inputs["availabilityZone"] == f"us-east-1{letter}"


def test_a_first_preview_works_with_unknown_values() -> None:
    recording = record(podCidr="100.64.0.0/16", nat="per-zone", endpoints=ENDPOINTS, preview=True)
    assert recording.returned["vpcId"] == UNKNOWN
    assert {(resource.type, resource.name) for resource in recording} == {
        (resource.type, resource.name)
        for resource in record(podCidr="100.64.0.0/16", nat="per-zone", endpoints=ENDPOINTS)
    }


@pytest.mark.parametrize("flow_logs", [True, False])
def test_every_network_resource_has_an_explicit_provider_and_prefix(flow_logs: bool) -> None:
    recording = record(podCidr="100.64.0.0/16", endpoints=ENDPOINTS, flowLogs={"enabled": flow_logs})
    assert recording.default_provider_users == ()
    names = {resource.name for resource in recording if resource.name not in ("aws", "kubernetes", "network")}
    assert all(name.startswith("network-") for name in names)
    assert any(name.startswith("network-flow-logs") for name in names) is flow_logs


def test_logical_names_contain_neither_region_nor_account() -> None:
    for resource in record(podCidr="100.64.0.0/16", endpoints=ENDPOINTS):
        assert not any(part in resource.name for part in ("us-east-1", "1111", CLUSTER_NAME))


def _added(before: Recording, after: Recording) -> set[tuple[str, str]]:
    fresh: list[Registered] = [after.resources[urn] for urn in after.resources.keys() - before.resources.keys()]
    return {(resource.type, resource.name) for resource in fresh}
