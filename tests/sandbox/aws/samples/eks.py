"""Samples: clusters, what they contain, and the capacity of their pools."""

from collections.abc import Mapping
from typing import Any

from sandbox.aws.client import Aws
from tests.sandbox.aws.samples.sample import RETAGGED, TAGGED, Sample, aws_call
from tests.sandbox.aws.samples.world import World

POLICY = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy"


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


def _cluster(world: World) -> dict[str, Any]:
    return {
        "name": "main",
        "roleArn": world.role()["arn"],
        "version": "1.34",
        "vpcConfig": {"subnetIds": world.subnets(), "endpointPrivateAccess": True, "endpointPublicAccess": False},
        "accessConfig": {"authenticationMode": "API", "bootstrapClusterCreatorAdminPermissions": False},
        "enabledClusterLogTypes": ["api", "audit"],
        "encryptionConfig": {"provider": {"keyArn": world.key()["arn"]}, "resources": ["secrets"]},
        "kubernetesNetworkConfig": {"serviceIpv4Cidr": "172.20.0.0/16"},
        **TAGGED,
    }


def _addon(world: World) -> dict[str, Any]:
    return {"clusterName": world.cluster(), "addonName": "vpc-cni", "addonVersion": "v1.22.4-eksbuild.3",
        "configurationValues": '{"env": {"WARM_PREFIX_TARGET": "1"}}',
        "podIdentityAssociations": [{"serviceAccount": "aws-node", "roleArn": world.role()["arn"]}],
        "resolveConflictsOnCreate": "OVERWRITE", "resolveConflictsOnUpdate": "PRESERVE", **TAGGED}  # fmt: skip


def _upgrade_by_hand(aws: Aws, id: str, outputs: Mapping[str, Any]) -> None:
    cluster, addon = id.split(":")
    aws.call("eks", "update_addon", clusterName=cluster, addonName=addon, addonVersion="v1.23.0-eksbuild.1")


def _entry(world: World) -> dict[str, Any]:
    return {
        "clusterName": world.cluster(), "principalArn": world.role()["arn"], "kubernetesGroups": ["slipway:vision"],
        **TAGGED,
    }  # fmt: skip


def _more_groups(aws: Aws, id: str, outputs: Mapping[str, Any]) -> None:
    names = {"clusterName": outputs["clusterName"], "principalArn": outputs["principalArn"]}
    aws.call("eks", "update_access_entry", **names, kubernetesGroups=["everybody"])


def _policy(world: World) -> dict[str, Any]:
    entry = world.make("aws:eks/accessEntry:AccessEntry", **_entry(world))[1]
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


def _new_version(aws: Aws, id: str, outputs: Mapping[str, Any]) -> None:
    aws.call(
        "ec2", "create_launch_template_version", LaunchTemplateId=id,
        LaunchTemplateData={"ImageId": "ami-99999999", "InstanceType": "p5.48xlarge"},
    )  # fmt: skip


SAMPLES: dict[str, Sample] = {
    "aws:eks/cluster:Cluster": Sample(_cluster, {"version": "1.35", "enabledClusterLogTypes": ["api"], **RETAGGED},
        aws_call("eks", "update_cluster_config", name="ID",
            logging={"clusterLogging": [{"types": ["scheduler"], "enabled": True}]}), ("enabledClusterLogTypes",)),
    "aws:eks/nodeGroup:NodeGroup": Sample(_node_group, {"scalingConfig": {"minSize": 1, "maxSize": 8, "desiredSize": 4},
            "labels": {"pool": "gpu", "new": "1"}, "taints": [{"key": "a", "effect": "NO_EXECUTE"}], **RETAGGED},
        _scale, ("scalingConfig",)),
    "aws:eks/addon:Addon": Sample(
        _addon, {"configurationValues": "{}", "podIdentityAssociations": [], **RETAGGED},
        _upgrade_by_hand, ("addonVersion",),
    ),
    "aws:eks/accessEntry:AccessEntry": Sample(
        _entry, {"kubernetesGroups": ["slipway:speech"], **RETAGGED}, _more_groups, ("kubernetesGroups",)
    ),
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": Sample(
        _association, {"disableSessionTags": True, **RETAGGED}, _other_role, ("roleArn",)
    ),
    # AWS replaces the scope of an associated policy; the provider replaces the resource, so an update sends nothing.
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": Sample(_policy),
    "aws:ec2/launchTemplate:LaunchTemplate": Sample(lambda world: {"name": "gpu", "imageId": "ami-12345678",
            "instanceType": "p5.48xlarge", "updateDefaultVersion": True, "userData": "IyEvYmluL3No",
            "metadataOptions": {"httpTokens": "required", "httpPutResponseHopLimit": 2},
            "blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": {"volumeSize": 500, "encrypted": "true"}}],
            "networkInterfaces": [
                {"deviceIndex": 0, "networkCardIndex": 0, "interfaceType": "efa", "securityGroups": [world.group()]}],
            "tagSpecifications": [{"resourceType": "instance", "tags": {"a": "b"}}], **TAGGED},
        {"instanceType": "p5e.48xlarge", **RETAGGED}, _new_version,
        ("imageId", "instanceType", "userData", "networkInterfaces")),
    "aws:autoscaling/schedule:Schedule": Sample(lambda world: {"autoscalingGroupName": "eks-gpu",
            "scheduledActionName": "off", "minSize": 0, "maxSize": 0, "desiredCapacity": 0, "recurrence": "0 20 * * *"},
        {"recurrence": "0 22 * * *"}),
    "aws:budgets/budget:Budget": Sample(lambda world: {"name": "team", "budgetType": "COST", "timeUnit": "MONTHLY",
            "limitAmount": "100", "limitUnit": "USD"}),
}  # fmt: skip
