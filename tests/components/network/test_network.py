"""The whole network: changes of zones and NAT mode, security, protection."""

import ipaddress
import json
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


def test_no_subnet_assigns_public_addresses() -> None:
    subnets = record(podCidr="100.64.0.0/16").of(aws.ec2.Subnet)
    assert len(subnets) == 6
    assert {subnet.inputs["mapPublicIpOnLaunch"] for subnet in subnets.values()} == {False}


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


def test_the_s3_gateway_endpoint_is_on_every_private_route_table() -> None:
    recording = record("abc")
    endpoint = recording.one(aws.ec2.VpcEndpoint)
    assert endpoint.inputs["serviceName"] == "com.amazonaws.us-east-1.s3"
    assert endpoint.inputs["vpcEndpointType"] == "Gateway"
    tables = [recording.of(aws.ec2.RouteTable)[f"network-route-private-{letter}"] for letter in "abc"]
    assert endpoint.input_sources["routeTableIds"] == tuple(sorted(table.urn for table in tables))


def test_interface_endpoints_have_private_dns_and_one_interface_per_zone() -> None:
    recording = record("abc", endpoints=["ecr.api", "sts"])
    endpoint = recording.of(aws.ec2.VpcEndpoint)["network-endpoint-ecr-api"]
    assert endpoint.inputs["serviceName"] == "com.amazonaws.us-east-1.ecr.api"
    assert endpoint.inputs["privateDnsEnabled"] is True
    private = [recording.of(aws.ec2.Subnet)[f"network-subnet-private-{letter}"] for letter in "abc"]
    assert endpoint.input_sources["subnetIds"] == tuple(sorted(subnet.urn for subnet in private))
    assert endpoint.input_sources["securityGroupIds"] == (recording.one(aws.ec2.SecurityGroup).urn,)


def test_order_and_duplicates_in_the_stack_file_are_irrelevant() -> None:
    one, other = record(endpoints=["sts", "ecr.api"]), record(endpoints=["ecr.api", "sts", "ecr.api"])
    assert {urn: resource.inputs for urn, resource in one.resources.items()} == {
        urn: resource.inputs for urn, resource in other.resources.items()
    }


GROUP = "arn:aws:logs:us-east-1:111122223333:log-group:/aws/vpc/slipway-test/flow-logs"


def test_flow_logs_of_the_vpc_depend_on_a_log_group_with_the_key() -> None:
    recording = record()
    group, log = recording.one(aws.cloudwatch.LogGroup), recording.one(aws.ec2.FlowLog)
    assert recording.waits(log, group)
    assert group.input_sources["kmsKeyId"] == (recording.one(aws.kms.Key).urn,)
    assert log.input_sources["vpcId"] == (recording.one(aws.ec2.Vpc).urn,)


def test_the_role_can_write_only_to_this_log_group() -> None:
    recording = record()
    write, find = json.loads(recording.one(aws.iam.RolePolicy).inputs["policy"])["Statement"]
    assert write["Action"] == ["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"]
    assert write["Resource"] == [f"{GROUP}:*"]
    assert find["Action"] == ["logs:DescribeLogGroups"]
    assert recording.waits(recording.one(aws.ec2.FlowLog), recording.one(aws.iam.RolePolicy))


def test_only_flow_logs_of_this_account_can_assume_the_role() -> None:
    (trust,) = json.loads(record().one(aws.iam.Role).inputs["assumeRolePolicy"])["Statement"]
    assert trust["Principal"] == {"Service": ["vpc-flow-logs.amazonaws.com"]}
    assert trust["Condition"] == {
        "StringEquals": {"aws:SourceAccount": ["111122223333"]},
        "ArnLike": {"aws:SourceArn": ["arn:aws:ec2:us-east-1:111122223333:vpc-flow-log/*"]},
    }


def test_the_key_rotates_and_is_used_only_by_this_log_group() -> None:
    key = record().one(aws.kms.Key)
    assert key.inputs["enableKeyRotation"] is True
    administration, encryption = json.loads(key.inputs["policy"])["Statement"]
    assert administration["Principal"] == {"AWS": ["arn:aws:iam::111122223333:root"]}
    assert encryption["Principal"] == {"Service": ["logs.us-east-1.amazonaws.com"]}
    assert encryption["Condition"] == {"ArnLike": {"kms:EncryptionContext:aws:logs:arn": [GROUP]}}


def test_only_pod_subnets_depend_on_the_secondary_cidr() -> None:
    recording = record(podCidr="100.64.0.0/16")
    association = recording.one(aws.ec2.VpcIpv4CidrBlockAssociation)
    assert association.inputs["cidrBlock"] == "100.64.0.0/16"
    subnets = recording.of(aws.ec2.Subnet)
    assert recording.waits(subnets["network-subnet-pods-a"], association)
    assert not recording.waits(subnets["network-subnet-private-a"], association)
