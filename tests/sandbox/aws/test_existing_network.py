"""The existing network that the sandbox makes, and the look-ups that read it."""

from typing import Any, Final

import pytest

from sandbox.aws.client import Aws
from sandbox.aws.existing_network import make
from sandbox.rpc.errors import ProviderError
from spec.settings.network import Network
from tests.sandbox.aws.test_functions import invoke
from tests.support.settings import network

VPC: Final = "vpc-0a1b2c3d4e5f67890"
PRIVATE: Final = {"us-east-1a": "subnet-0000000000000000a", "us-east-1b": "subnet-0000000000000000b"}
TAGGED: Final = {"tier": "public"}


def settings(**more: Any) -> Network:
    given = {"vpc": {"id": VPC}, "privateSubnets": {"ids": PRIVATE}, "publicSubnets": {"tags": TAGGED}}
    return network(existing=given, **more)


def ask(aws: Aws, name: str, **args: Any) -> Any:
    return invoke(aws, f"aws:ec2/{name}:{name}", args)


@pytest.fixture
def there(aws: Aws) -> Aws:
    """An account with the network, in the Region of the settings."""
    there = aws.at("us-east-1")
    made = make(Ec2(there), settings(endpoints=["sts"]), "us-east-1")
    assert made.vpc == VPC
    assert made.new
    return there


class Ec2:
    """The operations of EC2 as methods, as boto3 has them."""

    def __init__(self, aws: Aws) -> None:
        self._aws = aws

    def __getattr__(self, operation: str) -> Any:
        return lambda **arguments: self._aws.call("ec2", operation, **arguments)


def test_the_vpc_has_the_ids_and_tags_of_the_settings_and_is_made_once(there: Aws) -> None:
    vpc = ask(there, "getVpc", id=VPC)
    assert (vpc["id"], vpc["ownerId"], vpc["enableDnsHostnames"], vpc["enableDnsSupport"]) == (
        VPC, there.account, True, True,
    )  # fmt: skip
    for zone, id in PRIVATE.items():
        subnet = ask(there, "getSubnet", id=id)
        assert (subnet["vpcId"], subnet["availabilityZone"]) == (VPC, zone)
        assert subnet["tags"] == {"kubernetes.io/role/internal-elb": "1"}
        assert subnet["availableIpAddressCount"] > 10000
        public = ask(there, "getSubnet", vpcId=VPC, availabilityZone=zone, tags=TAGGED)
        assert public["tags"] == {"kubernetes.io/role/elb": "1", **TAGGED}
    again = make(Ec2(there), settings(), "us-east-1")
    assert (again.vpc, again.new, len(again.subnets)) == (VPC, False, 4)


def test_a_security_group_has_the_id_that_its_tag_names(there: Aws) -> None:
    tags = [{"Key": "_custom_id_", "Value": "sg-0a1b2c3d4e5f67890"}, {"Key": "team", "Value": "vision"}]
    made = Ec2(there).create_security_group(
        GroupName="nodes", Description="nodes", VpcId=VPC,
        TagSpecifications=[{"ResourceType": "security-group", "Tags": tags}],
    )  # fmt: skip
    assert made["GroupId"] == "sg-0a1b2c3d4e5f67890"
    found = invoke(there, "aws:ec2/getSecurityGroup:getSecurityGroup", {"vpcId": VPC, "name": "nodes"})
    assert (found["id"], found["tags"]) == (made["GroupId"], {"team": "vision"})


def default_route(there: Aws, subnet: str) -> dict[str, Any]:
    filters = [{"name": "association.subnet-id", "values": [subnet]}]
    (table,) = ask(there, "getRouteTables", vpcId=VPC, filters=filters)["ids"]
    (route,) = ask(there, "getRouteTable", routeTableId=table)["routes"]
    return {key: value for key, value in route.items() if value}


def test_routes_are_those_of_the_subnets_table_without_local_ones_and_those_of_endpoints(there: Aws) -> None:
    private = default_route(there, PRIVATE["us-east-1a"])
    assert private["cidrBlock"] == "0.0.0.0/0"
    assert private["natGatewayId"].startswith("nat-")
    public = ask(there, "getSubnet", vpcId=VPC, availabilityZone="us-east-1a", tags=TAGGED)
    assert default_route(there, public["id"])["gatewayId"].startswith("igw-")


def test_endpoints_are_found_by_service(there: Aws) -> None:
    def endpoint(service: str) -> Any:
        filters = [{"name": "service-name", "values": [f"com.amazonaws.us-east-1.{service}"]}]
        return ask(there, "getVpcEndpoint", vpcId=VPC, state="available", filters=filters)

    assert endpoint("sts")["privateDnsEnabled"] is True
    assert len(endpoint("s3")["routeTableIds"]) == 1
    with pytest.raises(ProviderError, match="no matching EC2 VPC Endpoint found"):
        endpoint("kms")


def test_nothing_and_several_are_errors_that_name_the_command(there: Aws) -> None:
    with pytest.raises(ProviderError, match="`slipway sandbox network STACK`"):
        ask(there, "getVpc", id="vpc-00000000")
    with pytest.raises(ProviderError, match="multiple EC2 Subnets matched"):
        ask(there, "getSubnet", vpcId=VPC)
    with pytest.raises(ProviderError, match="no matching EC2 Subnet found"):
        ask(there, "getSubnet", id="subnet-00000000")


def test_subnets_are_listed_by_tags(there: Aws) -> None:
    found = ask(there, "getSubnets", filters=[{"name": "vpc-id", "values": [VPC]}], tags=TAGGED)
    assert len(found["ids"]) == 2


def test_other_vpcs_and_subnets_have_random_ids(there: Aws) -> None:
    other = there.call("ec2", "create_vpc", CidrBlock="10.99.0.0/16")["Vpc"]["VpcId"]
    assert other != VPC
    made = there.call("ec2", "create_subnet", VpcId=other, CidrBlock="10.99.0.0/24")["Subnet"]
    assert made["SubnetId"] not in PRIVATE.values()
