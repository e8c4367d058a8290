"""Clusters and nodes follow from what is in the account, whoever put it there: here boto3 does, over HTTP."""

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from sandbox import CHARTS, asked
from sandbox.assembly import Sandbox, Settings
from sandbox.kubernetes.client import ApiError, KubeClient
from sandbox.kubernetes.helm.binary import available
from sandbox.kubernetes.objects import Ref
from sandbox.state import load
from tests.sandbox.aws.samples.world import TRUST
from tests.sandbox.kubernetes.helm.charts import CONFIG_MAP, write_chart
from tests.support.patience import wait_for

pytestmark = pytest.mark.sandbox

NAME = "foreign"
OF_ADDON = Ref("v1", "ConfigMap", "aws-vpc-cni-config", "kube-system")
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
    write_chart(home / "charts", "aws-vpc-cni", templates={"config.yaml": CONFIG_MAP})
    asked.begin(home, {CHARTS: str(home / "charts")})
    sandbox = Sandbox.start(Settings(home))
    state = load(home)
    assert state is not None
    keys = {"aws_access_key_id": "any", "aws_secret_access_key": "any", "region_name": "us-west-2"}
    try:
        yield Account(sandbox, home, boto3.Session(**keys), state.aws_endpoint)
    finally:
        sandbox.stop()


def token(keys: boto3.Session, endpoint: str, cluster: str) -> str:
    """What `aws eks get-token` prints (awscli, customizations/eks/get_token.py): a presigned URL."""
    client: Any = keys.client("sts", endpoint_url=endpoint)

    def name_cluster(request: Any, **_: Any) -> None:
        request.headers["x-k8s-aws-id"] = cluster

    client.meta.events.register("before-sign.sts.GetCallerIdentity", name_cluster)
    url = client.generate_presigned_url("get_caller_identity", ExpiresIn=60, HttpMethod="GET")
    return "k8s-aws-v1." + base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")


def check_who_may_use(account: Account, cluster: dict[str, Any], role: str) -> None:
    """The account's own keys are an administrator's; a role has what its access entry says."""
    eks = account.client("eks")
    authority = base64.b64decode(cluster["certificateAuthority"]["data"]).decode()
    review = "/apis/authentication.k8s.io/v1/selfsubjectreviews"

    def who(keys: boto3.Session) -> dict[str, Any]:
        api = KubeClient(cluster["endpoint"], authority, token(keys, account.endpoint, NAME))
        found = api.call("POST", review, {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"})
        user: dict[str, Any] = found["status"]["userInfo"]
        return user

    assert who(account.session)["groups"] == ["system:masters", "system:authenticated"]
    assumed = account.client("sts").assume_role(RoleArn=role, RoleSessionName="member")["Credentials"]
    member = boto3.Session(assumed["AccessKeyId"], assumed["SecretAccessKey"], assumed["SessionToken"], "us-west-2")
    with pytest.raises(ApiError, match="Unauthorized"):
        who(member)
    eks.update_cluster_config(name=NAME, accessConfig={"authenticationMode": "API_AND_CONFIG_MAP"})
    eks.create_access_entry(clusterName=NAME, principalArn=role, username="jo", kubernetesGroups=["team:edit"])
    seen = who(boto3.Session(assumed["AccessKeyId"], assumed["SecretAccessKey"], assumed["SessionToken"], "us-east-1"))
    assert (seen["username"], seen["groups"]) == ("jo", ["team:edit", "system:authenticated"])


def check_nodes(account: Account, group: dict[str, str], subnets: list[str], role: str) -> None:
    """They come with a node group, and follow its size."""
    eks = account.client("eks")
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


def check_addon(account: Account) -> None:
    """It has its pods, as its chart makes them, and they go with it."""
    eks, client = account.client("eks"), account.sandbox.targets.of_cluster(NAME)
    addon = {"clusterName": NAME, "addonName": "vpc-cni"}
    assert client is not None
    eks.create_addon(**addon, configurationValues='{"replicas": 3}')
    eks.get_waiter("addon_active").wait(**addon, WaiterConfig=SOON)
    assert (client.get(OF_ADDON) or {})["data"]["replicas"] == "3"
    eks.delete_addon(**addon)
    eks.get_waiter("addon_deleted").wait(**addon, WaiterConfig=SOON)
    assert client.get(OF_ADDON) is None


def check_version(account: Account) -> None:
    """An update restarts the API server, and keeps what is in it."""
    eks = account.client("eks")
    update = eks.update_cluster_version(name=NAME, version="1.35")["update"]
    assert wait_for(lambda: eks.describe_update(name=NAME, updateId=update["id"])["update"]["status"] == "Successful")
    assert eks.describe_cluster(name=NAME)["cluster"]["version"] == "1.35"
    client = account.sandbox.targets.of_cluster(NAME)
    assert client is not None
    assert client.get_path("/version")["emulationMinor"] == "35"
    assert len(account.nodes()) == 3


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
    check_who_may_use(account, cluster, role)
    group = {"clusterName": NAME, "nodegroupName": "gpu"}
    check_nodes(account, group, subnets, role)
    if available() is not None:
        check_addon(account)
    check_version(account)

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
