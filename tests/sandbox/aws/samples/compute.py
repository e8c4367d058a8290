"""Samples: compute."""

import json
from collections.abc import Mapping
from typing import Any

from sandbox.aws.client import Aws
from tests.sandbox.aws.samples.sample import RETAGGED, TAGGED, Sample, aws_call
from tests.sandbox.aws.samples.world import World


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


_LIFECYCLE_TEXT = json.dumps(
    {
        "rules": [
            {
                "rulePriority": 1,
                "selection": {"tagStatus": "any", "countType": "imageCountMoreThan", "countNumber": 5},
                "action": {"type": "expire"},
            }
        ]
    }
)

SAMPLES: dict[str, Sample] = {
    "aws:eks/cluster:Cluster": Sample(_cluster, {"version": "1.35", "enabledClusterLogTypes": ["api"], **RETAGGED},
        aws_call("eks", "update_cluster_config", name="ID",
            logging={"clusterLogging": [{"types": ["scheduler"], "enabled": True}]}), ("enabledClusterLogTypes",)),
    "aws:eks/nodeGroup:NodeGroup": Sample(_node_group, {"scalingConfig": {"minSize": 1, "maxSize": 8, "desiredSize": 4},
            "labels": {"pool": "gpu", "new": "1"}, "taints": [{"key": "a", "effect": "NO_EXECUTE"}], **RETAGGED},
        _scale, ("scalingConfig",)),
    "aws:ecr/repository:Repository": Sample(lambda world: {"name": "train", "imageTagMutability": "IMMUTABLE",
            "imageScanningConfiguration": {"scanOnPush": True}, "encryptionConfigurations": [{"encryptionType": "KMS"}],
            "forceDelete": True, **TAGGED}, {"imageTagMutability": "MUTABLE", **RETAGGED},
        aws_call("ecr", "put_image_tag_mutability", repositoryName="ID", imageTagMutability="IMMUTABLE"),
        ("imageTagMutability",)),
    "aws:ecr/lifecyclePolicy:LifecyclePolicy": Sample(lambda world: {
            "repository": world.make("aws:ecr/repository:Repository", name=world.unique("serve"))[0],
            "policy": _LIFECYCLE_TEXT}, {"policy": _LIFECYCLE_TEXT.replace("5", "9")}),
    "aws:rds/subnetGroup:SubnetGroup": Sample(
        lambda world: {"name": "tracking", "subnetIds": world.subnets(), **TAGGED}, RETAGGED),
    "aws:rds/parameterGroup:ParameterGroup": Sample(lambda world: {"name": "tls-alone", "family": "postgres17",
            "parameters": [{"name": "rds.force_ssl", "value": "1"}], **TAGGED},
        {"parameters": [{"name": "rds.force_ssl", "value": "0"}], **RETAGGED}),
    "aws:rds/instance:Instance": Sample(lambda world: {"identifier": "tracking", "instanceClass": "db.t4g.medium",
            "engine": "postgres", "allocatedStorage": 20, "username": "mlflow", "password": "very-secret",
            "skipFinalSnapshot": True, **TAGGED}, {"instanceClass": "db.t4g.large", **RETAGGED}),
    "aws:autoscaling/schedule:Schedule": Sample(lambda world: {"autoscalingGroupName": "eks-gpu",
            "scheduledActionName": "off", "minSize": 0, "maxSize": 0, "desiredCapacity": 0, "recurrence": "0 20 * * *"},
        {"recurrence": "0 22 * * *"}),
    "aws:budgets/budget:Budget": Sample(lambda world: {"name": "team", "budgetType": "COST", "timeUnit": "MONTHLY",
            "limitAmount": "100", "limitUnit": "USD"}),
}  # fmt: skip
