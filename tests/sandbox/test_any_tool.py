"""Clusters and nodes follow from what is in the account, whoever put it there: here boto3 does, over HTTP."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from sandbox.assembly import Sandbox, Settings
from sandbox.state import load
from tests.sandbox.aws.samples.world import TRUST

pytestmark = pytest.mark.sandbox

NAME = "foreign"
SOON = {"Delay": 1, "MaxAttempts": 300}
"""For AWS's waiters, which look every 30 s."""


@dataclass(frozen=True)
class Account:
    """An empty account in a sandbox of its own."""

    sandbox: Sandbox
    home: Path
    session: boto3.Session
    endpoint: str

    def client(self, service: str) -> Any:
        return self.session.client(service, endpoint_url=self.endpoint)

    def subnets(self) -> list[str]:
        ec2 = self.client("ec2")
        vpc = ec2.create_vpc(CidrBlock="10.7.0.0/16")["Vpc"]["VpcId"]
        zones = enumerate(("us-west-2a", "us-west-2b"))
        made = [
            ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.7.{index}.0/24", AvailabilityZone=zone) for index, zone in zones
        ]
        return [one["Subnet"]["SubnetId"] for one in made]

    def role(self) -> str:
        made = self.client("iam").create_role(RoleName="eks", AssumeRolePolicyDocument=TRUST)
        return str(made["Role"]["Arn"])

    def nodes(self) -> dict[str, dict[str, str]]:
        """The capacity of each node of the cluster."""
        client = self.sandbox.targets.of_cluster(NAME)
        assert client is not None
        return {one["metadata"]["name"]: one["status"]["capacity"] for one in client.get_path("/api/v1/nodes")["items"]}


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    home = tmp_path_factory.mktemp("any-tool")
    sandbox = Sandbox.start(Settings(home))
    state = load(home)
    assert state is not None
    keys = {"aws_access_key_id": "any", "aws_secret_access_key": "any", "region_name": "us-west-2"}
    try:
        yield Account(sandbox, home, boto3.Session(**keys), state.aws_endpoint)
    finally:
        sandbox.stop()


def test_boto3_gets_a_cluster_with_nodes_changes_it_and_deletes_it(account: Account) -> None:
    eks, subnets, role = account.client("eks"), account.subnets(), account.role()
    vpc = {"subnetIds": subnets}
    made = eks.create_cluster(name=NAME, roleArn=role, version="1.34", resourcesVpcConfig=vpc)["cluster"]
    assert made["status"] == "CREATING"
    assert "endpoint" not in made
    eks.get_waiter("cluster_active").wait(name=NAME, WaiterConfig=SOON)
    cluster = eks.describe_cluster(name=NAME)["cluster"]
    state = load(account.home)
    assert state is not None
    assert state.clusters == {NAME: cluster["endpoint"]}
    assert cluster["certificateAuthority"]["data"]
    assert cluster["resourcesVpcConfig"]["clusterSecurityGroupId"].startswith("sg-")
    client = account.sandbox.targets.of_cluster(NAME)
    assert client is not None
    assert client.get_path("/version")["emulationMinor"] == "34"

    group = {"clusterName": NAME, "nodegroupName": "gpu"}
    scaling = {"minSize": 0, "maxSize": 3, "desiredSize": 1}
    eks.create_nodegroup(
        **group, subnets=subnets, nodeRole=role, scalingConfig=scaling, instanceTypes=["g6.xlarge"],
        amiType="AL2023_x86_64_NVIDIA", taints=[{"key": "nvidia.com/gpu", "effect": "NO_SCHEDULE"}],
    )  # fmt: skip
    eks.get_waiter("nodegroup_active").wait(**group, WaiterConfig=SOON)
    assert [capacity["nvidia.com/gpu"] for capacity in account.nodes().values()] == ["1"]
    update = eks.update_nodegroup_config(**group, scalingConfig={"desiredSize": 3})["update"]
    done = eks.describe_update(name=NAME, nodegroupName="gpu", updateId=update["id"])["update"]
    assert done["status"] == "Successful"
    assert len(account.nodes()) == 3

    update = eks.update_cluster_version(name=NAME, version="1.35")["update"]
    assert eks.describe_update(name=NAME, updateId=update["id"])["update"]["status"] == "Successful"
    assert eks.describe_cluster(name=NAME)["cluster"]["version"] == "1.35"
    client = account.sandbox.targets.of_cluster(NAME)
    assert client is not None
    assert client.get_path("/version")["emulationMinor"] == "35"
    assert len(account.nodes()) == 3

    with pytest.raises(ClientError, match="Cluster has nodegroups attached"):
        eks.delete_cluster(name=NAME)
    eks.delete_nodegroup(**group)
    eks.get_waiter("nodegroup_deleted").wait(**group, WaiterConfig=SOON)
    assert account.nodes() == {}
    eks.delete_cluster(name=NAME)
    eks.get_waiter("cluster_deleted").wait(name=NAME, WaiterConfig=SOON)
    assert (load(account.home) or state).clusters == {}
    found = account.client("ec2").describe_security_groups()["SecurityGroups"]
    assert cluster["resourcesVpcConfig"]["clusterSecurityGroupId"] not in [one["GroupId"] for one in found]
