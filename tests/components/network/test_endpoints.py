"""VPC endpoints: S3 always, others optional, open only to nodes and pods of this network."""

from __future__ import annotations

import pulumi_aws as aws

from tests.components.network.test_network import record


def test_the_s3_gateway_endpoint_is_on_every_private_route_table() -> None:
    recording = record("abc")
    endpoint = recording.one(aws.ec2.VpcEndpoint)
    assert endpoint.inputs["serviceName"] == "com.amazonaws.us-east-1.s3"
    assert endpoint.inputs["vpcEndpointType"] == "Gateway"
    tables = [recording.of(aws.ec2.RouteTable)[f"network-route-private-{letter}"] for letter in "abc"]
    assert endpoint.input_sources["routeTableIds"] == tuple(sorted(table.urn for table in tables))


def test_without_interface_endpoints_there_is_no_security_group() -> None:
    assert not record().of(aws.ec2.SecurityGroup)


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


def test_only_nodes_and_pods_can_connect_and_only_with_https() -> None:
    rules = record(podCidr="100.64.0.0/16", endpoints=["sts"]).of(aws.vpc.SecurityGroupIngressRule)
    assert {name: rule.inputs["cidrIpv4"] for name, rule in rules.items()} == {
        "network-endpoint-from-vpc": "10.16.0.0/16",
        "network-endpoint-from-pods": "100.64.0.0/16",
    }
    ports = {(rule.inputs["ipProtocol"], rule.inputs["fromPort"], rule.inputs["toPort"]) for rule in rules.values()}
    assert ports == {("tcp", 443, 443)}
