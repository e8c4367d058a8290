"""Samples: capacity, schedules and budgets."""

from collections.abc import Mapping
from typing import Any

from sandbox.aws.client import Aws
from tests.sandbox.aws.samples.sample import RETAGGED, TAGGED, Sample


def _new_version(aws: Aws, id: str, outputs: Mapping[str, Any]) -> None:
    aws.call(
        "ec2", "create_launch_template_version", LaunchTemplateId=id,
        LaunchTemplateData={"ImageId": "ami-99999999", "InstanceType": "p5.48xlarge"},
    )  # fmt: skip


SAMPLES: dict[str, Sample] = {
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
