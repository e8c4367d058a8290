"""A stack in a VPC that exists: made beforehand, used, and refused once something about it is wrong."""

import json
from collections.abc import Iterator
from typing import Final

import pytest

from tests.e2e import cloud
from tests.e2e.world import BRIEF, World

pytestmark = pytest.mark.sandbox

STACK: Final = "existing"
VPC: Final = "vpc-0a1b2c3d4e5f67890"
PRIVATE: Final = {"us-east-1a": "subnet-0000000000000000a", "us-east-1b": "subnet-0000000000000000b"}
NETWORK: Final = json.dumps(
    {
        "cidr": "10.16.0.0/16",
        "zones": [*PRIVATE],
        "peers": {"office": "192.168.0.0/16"},
        "existing": {"vpc": {"id": VPC}, "privateSubnets": {"ids": PRIVATE}},
    }
)


@pytest.fixture
def stack(world: World) -> Iterator[str]:
    """Brief with shared storage, in an existing VPC of an account of its own."""
    (line,) = (line for line in BRIEF.splitlines() if line.strip().startswith("network:"))
    text = BRIEF.replace(line, f"    network: {NETWORK}").replace("777788889999", "777788880001")
    with world.stack(STACK, text + "    storage: {efs: {}, lustre: {}}\n") as name:
        yield name


def test_a_stack_uses_a_vpc_that_exists_and_leaves_it(world: World, stack: str) -> None:
    world.succeed("sandbox", "start")
    missing = world.run("preview", stack, "--sandbox")
    assert missing.returncode != 0
    assert "one VPC that the account sees must be this one" in missing.stdout
    assert "slipway sandbox network STACK" in missing.stdout

    assert VPC in world.succeed("sandbox", "network", stack)
    world.succeed("up", stack, "--sandbox")
    made = world.resources(stack)
    types = {one["type"] for one in made}
    assert not types & {"aws:ec2/vpc:Vpc", "aws:ec2/subnet:Subnet", "aws:ec2/natGateway:NatGateway"}
    of = {kind: [one.get("inputs", {}) for one in made if one["type"] == kind] for kind in types}
    assert of["aws:eks/cluster:Cluster"][0]["vpcConfig"]["subnetIds"] == list(PRIVATE.values())
    assert {one["subnetId"] for one in of["aws:efs/mountTarget:MountTarget"]} == set(PRIVATE.values())
    assert of["aws:fsx/lustreFileSystem:LustreFileSystem"][0]["subnetIds"] in list(PRIVATE.values())
    assert {one["vpcId"] for one in of["aws:ec2/securityGroup:SecurityGroup"]} == {VPC}
    assert [one["vpcId"] for one in of["aws:ec2/flowLog:FlowLog"]] == [VPC]
    (node_class,) = of["kubernetes:karpenter.k8s.aws/v1:EC2NodeClass"]
    assert node_class["spec"]["subnetSelectorTerms"] == [{"id": id} for id in PRIVATE.values()]
    assert "0 to create" not in world.succeed("preview", stack, "--sandbox", "--", "--expect-no-changes")

    client = cloud.client("ec2", world.variables(stack))
    filters = [{"Name": "association.subnet-id", "Values": [PRIVATE["us-east-1a"]]}]
    (table,) = client.describe_route_tables(Filters=filters)["RouteTables"]
    route = {"RouteTableId": table["RouteTableId"], "DestinationCidrBlock": "0.0.0.0/0"}
    client.delete_route(**route)
    refused = world.run("preview", stack, "--sandbox")
    assert refused.returncode != 0
    assert "network.existing.privateSubnets: nodes need a default route" in refused.stdout

    world.succeed("destroy", stack, "--sandbox", "--yes")
    assert client.describe_vpcs(VpcIds=[VPC])["Vpcs"][0]["State"] == "available"
    groups = client.describe_security_groups(Filters=[{"Name": "vpc-id", "Values": [VPC]}])["SecurityGroups"]
    assert [group["GroupName"] for group in groups] == ["default"]
