"""Samples whose inputs depend on each other, or whose change by hand makes an object; all others are rows."""

from collections.abc import Mapping
from typing import Any

from sandbox.aws.client import Aws
from tests.sandbox.aws.samples.sample import RETAGGED, TAGGED, Sample, aws_call
from tests.sandbox.aws.samples.world import World

POLICY = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy"


def _endpoint(world: World) -> dict[str, Any]:
    vpc = world.vpc()
    subnets = world.subnets(vpc=vpc)
    world.aws.call("ec2", "modify_vpc_attribute", VpcId=vpc, EnableDnsHostnames={"Value": True})
    group = world.make("aws:ec2/securityGroup:SecurityGroup", name="endpoint", vpcId=vpc)[0]
    return {"vpcId": vpc, "serviceName": f"com.amazonaws.{world.aws.region}.ecr.api", "vpcEndpointType": "Interface",
        "subnetIds": subnets, "securityGroupIds": [group], "privateDnsEnabled": True, **TAGGED}  # fmt: skip


def _scale(aws: Aws, id: str, outputs: Mapping[str, Any]) -> None:
    sizes = {"minSize": 1, "maxSize": 9, "desiredSize": 7}
    cluster, group = id.split(":")
    aws.call("eks", "update_nodegroup_config", clusterName=cluster, nodegroupName=group, scalingConfig=sizes)


def _node_group(world: World) -> dict[str, Any]:
    template, outputs = world.template()
    return {"clusterName": world.cluster(), "nodeGroupName": "gpu", "nodeRoleArn": world.role()["arn"],
        "subnetIds": world.subnets(), "scalingConfig": {"minSize": 0, "maxSize": 4, "desiredSize": 2},
        "launchTemplate": {"id": template, "version": str(outputs["latestVersion"])},
        "labels": {"pool": "gpu", "old": "1"},
        "taints": [{"key": "nvidia.com/gpu", "value": "1", "effect": "NO_SCHEDULE"}],
        "updateConfig": {"maxUnavailable": 1}, **TAGGED}  # fmt: skip


def _policy(world: World) -> dict[str, Any]:
    inputs = {"clusterName": world.cluster(), "principalArn": world.role()["arn"], **TAGGED}
    entry = world.make("aws:eks/accessEntry:AccessEntry", **inputs)[1]
    names = {name: entry[name] for name in ("clusterName", "principalArn")}
    return {**names, "policyArn": POLICY, "accessScope": {"type": "namespace", "namespaces": ["vision"]}}


def _association(world: World) -> dict[str, Any]:
    return {
        "clusterName": world.cluster(), "namespace": "mlflow", "serviceAccount": "mlflow",
        "roleArn": world.role()["arn"], **TAGGED,
    }  # fmt: skip


def _other_role(aws: Aws, id: str, outputs: Mapping[str, Any]) -> None:
    names = {"clusterName": outputs["clusterName"], "associationId": id}
    aws.call("eks", "update_pod_identity_association", **names, roleArn=World(aws).role()["arn"])


SAMPLES: dict[str, Sample] = {
    "aws:ec2/route:Route": Sample(lambda world: {"routeTableId": (table := world.table()),
            "destinationCidrBlock": "0.0.0.0/0", "gatewayId": world.gateway_of(table)}),
    "aws:ec2/vpcEndpoint:VpcEndpoint": Sample(_endpoint, RETAGGED,
        aws_call("ec2", "modify_vpc_endpoint", VpcEndpointId="ID", RemoveSubnetIds="$subnetIds"), ("subnetIds",)),
    "aws:eks/nodeGroup:NodeGroup": Sample(_node_group, {"scalingConfig": {"minSize": 1, "maxSize": 8, "desiredSize": 4},
            "labels": {"pool": "gpu", "new": "1"}, "taints": [{"key": "a", "effect": "NO_EXECUTE"}], **RETAGGED},
        _scale, ("scalingConfig",)),
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": Sample(
        _association, {"disableSessionTags": True, **RETAGGED}, _other_role, ("roleArn",)
    ),
    # AWS replaces the scope of an associated policy; the provider replaces the resource, so an update sends nothing.
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": Sample(_policy),
}  # fmt: skip
