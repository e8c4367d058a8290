"""Makes the cluster that `cluster.existing` names in the sandbox, with its VPC and nodes, by the AWS API as other tools
do: with public and private subnets, access entries beside `aws-auth`, add-ons of its own and one node group.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final

from botocore.exceptions import ClientError

from sandbox.aws import existing_network
from spec.settings.cluster import Cluster
from spec.settings.existing import Existing, ExistingVpc
from spec.settings.network import Network

ADDONS: Final = ("vpc-cni", "kube-proxy", "eks-pod-identity-agent", "coredns")
_POLICIES: Final = {
    "eks": ("AmazonEKSClusterPolicy",),
    "ec2": ("AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "AmazonEC2ContainerRegistryPullOnly"),
}
_WAIT: Final = {"Delay": 1, "MaxAttempts": 300}


def make(client: Callable[[str], Any], network: Network, cluster: Cluster, region: str) -> existing_network.Made:
    """Make the cluster unless it exists; its VPC and subnets.

    Args:
        client: boto3 clients of the sandbox by service, in the stack's account and Region.
        network: Settings of the VPC.
        cluster: Settings with `existing`.
        region: The Region, for the names of endpoint services.

    Raises:
        ValueError: The settings name no existing cluster.
        ClientError: The emulator refuses a part.
    """
    if cluster.existing is None:
        msg = "cluster.existing is not set"
        raise ValueError(msg)
    eks, name = client("eks"), cluster.existing.name
    try:
        vpc = eks.describe_cluster(name=name)["cluster"]["resourcesVpcConfig"]
        return existing_network.Made(vpc["vpcId"], tuple(vpc["subnetIds"]), new=False)
    except ClientError as error:
        if error.response["Error"]["Code"] != "ResourceNotFoundException":
            raise
    existing = network.existing or Existing()
    if not (existing.vpc.id or existing.vpc.tags):
        existing = existing.model_copy(update={"vpc": ExistingVpc(tags={"Name": name})})
    made = existing_network.make(client("ec2"), network.model_copy(update={"existing": existing}), region)
    control_plane(client, name, made.subnets, cluster.version, str(cluster.service_ipv4_cidr))
    eks.create_nodegroup(
        clusterName=name,
        nodegroupName="general",
        nodeRole=_role(client("iam"), name, "ec2"),
        subnets=list(made.subnets),
        instanceTypes=["m7i.xlarge"],
        scalingConfig={"minSize": 2, "desiredSize": 2, "maxSize": 4},
    )
    for addon in ADDONS:
        eks.create_addon(clusterName=name, addonName=addon)
    eks.get_waiter("nodegroup_active").wait(clusterName=name, nodegroupName="general", WaiterConfig=_WAIT)
    return made


def control_plane(
    client: Callable[[str], Any], name: str, subnets: Sequence[str], version: str, service_cidr: str = "172.20.0.0/16"
) -> None:
    """Make a cluster without nodes, and wait until it is active. Raises ClientError if the emulator refuses it."""
    client("eks").create_cluster(
        name=name,
        version=version,
        roleArn=_role(client("iam"), name, "eks"),
        resourcesVpcConfig={"subnetIds": list(subnets)},
        kubernetesNetworkConfig={"serviceIpv4Cidr": service_cidr},
        accessConfig={"authenticationMode": "API_AND_CONFIG_MAP"},
    )
    client("eks").get_waiter("cluster_active").wait(name=name, WaiterConfig=_WAIT)


def _role(iam: Any, cluster: str, service: str) -> str:
    """A role that the service may assume."""
    trust = {"Effect": "Allow", "Principal": {"Service": f"{service}.amazonaws.com"}, "Action": "sts:AssumeRole"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
    made = iam.create_role(RoleName=f"{cluster}-{service}", AssumeRolePolicyDocument=document)["Role"]
    for policy in _POLICIES[service]:
        iam.attach_role_policy(RoleName=made["RoleName"], PolicyArn=f"arn:aws:iam::aws:policy/{policy}")
    return str(made["Arn"])
