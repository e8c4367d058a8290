"""EKS clusters and node groups, and instances in each form that EC2 has for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from policies.resources import tokens
from tests.scanners.agreement.spelling import Spelling, by_pack, changed, of

_KEY: Final = "arn:aws:kms:us-east-1:111122223333:key/0d0c4a1e-7d5c-4a10-9f5d-7a8f0f1f6a11"
_LOGS: Final = ["api", "audit", "authenticator", "controllerManager", "scheduler"]
_CLUSTER: Final = of(
    tokens.CLUSTER,
    {
        "name": "slipway",
        "roleArn": "arn:aws:iam::111122223333:role/cluster",
        "version": "1.35",
        "enabledClusterLogTypes": _LOGS,
        "vpcConfig": {
            "subnetIds": ["subnet-0a1b2c3d4e5f60718"],
            "endpointPrivateAccess": True,
            "endpointPublicAccess": False,
        },
        "encryptionConfig": {"provider": {"keyArn": _KEY}, "resources": ["secrets"]},
    },
)


def _public(*ranges: str) -> dict[str, Any]:
    vpc = {**_CLUSTER.props["vpcConfig"], "endpointPublicAccess": True}
    return {"it": changed(_CLUSTER, "vpcConfig", {**vpc, "publicAccessCidrs": list(ranges)} if ranges else vpc)}


_GROUP: Final = of(
    tokens.NODE_GROUP,
    {
        "clusterName": "slipway",
        "nodeRoleArn": "arn:aws:iam::111122223333:role/nodes",
        "subnetIds": ["subnet-0a1b2c3d4e5f60718"],
        "scalingConfig": {"desiredSize": 1, "maxSize": 2, "minSize": 1},
    },
)
_CREDENTIAL: Final = "export AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLA"
_METADATA: Final = {"httpTokens": "required", "httpPutResponseHopLimit": 1}
_DISK: Final = {"encrypted": True, "kmsKeyId": _KEY, "volumeType": "gp3"}
_TEMPLATE: Final = of(
    tokens.LAUNCH_TEMPLATE,
    {
        "metadataOptions": _METADATA,
        "blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": _DISK}],
        "networkInterfaces": [{"associatePublicIpAddress": False}],
        "userData": "echo ready",
    },
)
_INSTANCE: Final = of(
    tokens.INSTANCE,
    {
        "ami": "ami-0a1b2c3d4e5f60718",
        "instanceType": "m7i.large",
        "metadataOptions": _METADATA,
        "rootBlockDevice": _DISK,
        "associatePublicIpAddress": False,
        "userData": "echo ready",
        "monitoring": True,
        "ebsOptimized": True,
        "iamInstanceProfile": "nodes",
    },
)
_CONFIGURATION: Final = of(
    tokens.LAUNCH_CONFIGURATION,
    {
        "imageId": "ami-0a1b2c3d4e5f60718",
        "instanceType": "m7i.large",
        "metadataOptions": _METADATA,
        "rootBlockDevice": {"encrypted": True, "volumeType": "gp3"},
        "associatePublicIpAddress": False,
        "userData": "echo ready",
    },
)
_PLAIN: Final = {**_DISK, "encrypted": False}
_SECOND: Final = [{**_DISK, "deviceName": "/dev/sdf", "encrypted": False}]
_NO_INSTANCES: Final = by_pack("an instance belongs to a pool, so the pack reports each, however it is configured")


def _bad_disks(machine: Any) -> list[Mapping[str, Any]]:
    return [
        {"it": changed(machine, "rootBlockDevice.encrypted", False)},
        {"it": changed(machine, "ebsBlockDevices", _SECOND)},
        {"it": changed(machine, "rootBlockDevice")},
    ]


def _bad_metadata(machine: Any) -> list[Mapping[str, Any]]:
    return [
        {"it": changed(machine, "metadataOptions.httpTokens", "optional")},
        {"it": changed(machine, "metadataOptions")},
    ]


_VOLUME: Final = of(
    tokens.VOLUME,
    {"availabilityZone": "us-east-1a", "size": 10, "encrypted": True, "kmsKeyId": _KEY, "type": "gp3"},
)
_ATTACHED: Final = of(
    "aws:ec2/volumeAttachment:VolumeAttachment",
    {"deviceName": "/dev/sdf", "instanceId": "i-0a1b2c3d4e5f60718"},
    volumeId="volume",
)
_SCALED: Final = of(
    tokens.AUTO_SCALING_GROUP,
    {
        "maxSize": 2,
        "minSize": 1,
        "launchTemplate": {"id": "lt-0a1b2c3d4e5f60718", "version": "3"},
        "tags": [{"key": key, "value": "vision", "propagateAtLaunch": True} for key in ("owner", "environment")],
    },
)

_ACCOUNT: Final = of(tokens.AWS_PROVIDER, {"region": "us-east-1"})

SPELLINGS: Final = (
    Spelling(
        name="provider aws",
        good={"it": _ACCOUNT},
        bad={
            "CKV_AWS_41": (
                {"it": changed(_ACCOUNT, "accessKey", "AKIAIOSFODNN7EXAMPLA")},
                {"it": changed(_ACCOUNT, "secretKey", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")},
            )
        },
    ),
    Spelling(
        name="aws_eks_cluster",
        good={"it": _CLUSTER},
        bad={
            "CKV_AWS_37": (
                {"it": changed(_CLUSTER, "enabledClusterLogTypes", ["api"])},
                {"it": changed(_CLUSTER, "enabledClusterLogTypes")},
            ),
            "CKV_AWS_38": (_public(), _public("0.0.0.0/0"), _public("203.0.113.0/24", "0.0.0.0/0")),
            "CKV_AWS_39": (_public("203.0.113.0/24"), {"it": changed(_CLUSTER, "vpcConfig.endpointPublicAccess")}),
            "CKV_AWS_58": {"it": changed(_CLUSTER, "encryptionConfig")},
            "CKV_AWS_339": {"it": changed(_CLUSTER, "version", "1.28")},
        },
    ),
    Spelling(
        name="aws_eks_cluster, resources of encryption_config",
        good={"it": _CLUSTER},
        bad={"CKV_AWS_58": {"it": changed(_CLUSTER, "encryptionConfig.resources", [])}},
    ),
    Spelling(
        name="aws_eks_cluster, networks of some clients",
        good=_public("203.0.113.0/24"),
        bad={"CKV_AWS_38": (_public("0.0.0.0/1", "128.0.0.0/1"), _public("::/0"))},
        bad_differs={"CKV_AWS_38": by_pack("Checkov compares texts and knows one: 0.0.0.0/0")},
    ),
    Spelling(
        name="aws_eks_node_group",
        good={"it": _GROUP},
        bad={"CKV_AWS_100": {"it": changed(_GROUP, "remoteAccess", {"ec2SshKey": "people"})}},
    ),
    Spelling(
        name="aws_eks_node_group, source_security_group_ids",
        good={"it": _GROUP},
        bad={
            "CKV_AWS_100": {
                "it": changed(_GROUP, "remoteAccess", {"ec2SshKey": "people", "sourceSecurityGroupIds": ["sg-0a1b2c"]})
            }
        },
        bad_differs={"CKV_AWS_100": by_pack("Checkov accepts SSH from some groups; the pack accepts no SSH")},
    ),
    Spelling(
        name="aws_launch_template, key_name",
        good={"it": _TEMPLATE},
        bad={"CKV_AWS_100": {"it": changed(_TEMPLATE, "keyName", "people")}},
        bad_differs={"CKV_AWS_100": by_pack("Checkov reads node groups only")},
    ),
    Spelling(
        name="aws_launch_template",
        good={"it": _TEMPLATE},
        bad={
            "CKV_AWS_46": {"it": changed(_TEMPLATE, "userData", _CREDENTIAL)},
            "CKV_AWS_79": _bad_metadata(_TEMPLATE),
            "CKV_AWS_88": {"it": changed(_TEMPLATE, "networkInterfaces.0.associatePublicIpAddress", True)},
            "CKV_AWS_341": {"it": changed(_TEMPLATE, "metadataOptions.httpPutResponseHopLimit", 2)},
        },
    ),
    Spelling(
        name="aws_launch_template, block_device_mappings",
        good={"it": _TEMPLATE},
        bad={
            "CKV_AWS_8": {"it": changed(_TEMPLATE, "blockDeviceMappings.0.ebs.encrypted", False)},
            "CKV_AWS_3": {"it": changed(_TEMPLATE, "blockDeviceMappings.0.ebs.encrypted", False)},
            "CKV_AWS_189": {"it": changed(_TEMPLATE, "blockDeviceMappings.0.ebs.kmsKeyId")},
            "CKV2_AWS_2": {"it": changed(_TEMPLATE, "blockDeviceMappings.0.ebs.encrypted", False)},
        },
        bad_differs=dict.fromkeys(
            ("CKV_AWS_8", "CKV_AWS_3", "CKV_AWS_189", "CKV2_AWS_2"),
            by_pack("Checkov does not read the volumes of launch templates"),
        ),
    ),
    Spelling(
        name="aws_instance",
        good={"it": _INSTANCE},
        bad={
            "CKV_AWS_8": _bad_disks(_INSTANCE),
            "CKV_AWS_46": {"it": changed(_INSTANCE, "userData", _CREDENTIAL)},
            "CKV_AWS_79": _bad_metadata(_INSTANCE),
            "CKV_AWS_88": {"it": changed(_INSTANCE, "associatePublicIpAddress", True)},
            "CKV_AWS_126": {"it": changed(_INSTANCE, "monitoring", False)},
            "CKV_AWS_135": {"it": changed(_INSTANCE, "ebsOptimized", False)},
            "CKV2_AWS_41": {"it": changed(_INSTANCE, "iamInstanceProfile")},
        },
        good_differs=dict.fromkeys(("CKV_AWS_126", "CKV_AWS_135", "CKV2_AWS_41"), _NO_INSTANCES),
    ),
    Spelling(
        name="aws_launch_configuration",
        good={"it": _CONFIGURATION},
        bad={
            "CKV_AWS_8": _bad_disks(_CONFIGURATION),
            "CKV_AWS_46": {"it": changed(_CONFIGURATION, "userData", _CREDENTIAL)},
            "CKV_AWS_79": _bad_metadata(_CONFIGURATION),
            "CKV_AWS_341": {"it": changed(_CONFIGURATION, "metadataOptions.httpPutResponseHopLimit", 2)},
        },
    ),
    Spelling(
        name="aws_launch_configuration, associate_public_ip_address",
        good={"it": _CONFIGURATION},
        bad={"CKV_AWS_88": {"it": changed(_CONFIGURATION, "associatePublicIpAddress", True)}},
        bad_differs={"CKV_AWS_88": by_pack("Checkov reads instances and launch templates only")},
    ),
    Spelling(
        name="aws_instance, user_data_base64",
        good={"it": _INSTANCE},
        bad={
            "CKV_AWS_46": {
                "it": changed(
                    _INSTANCE, "userDataBase64", "ZXhwb3J0IEFXU19BQ0NFU1NfS0VZX0lEPUFLSUFJT1NGT0ROTjdFWEFNUExB"
                )
            }
        },
        bad_differs={"CKV_AWS_46": by_pack("Checkov does not decode base64")},
    ),
    Spelling(
        name="aws_ebs_volume",
        good={"volume": _VOLUME},
        bad={
            "CKV_AWS_3": {"volume": changed(_VOLUME, "encrypted", False)},
            "CKV_AWS_189": {"volume": changed(_VOLUME, "kmsKeyId")},
        },
    ),
    Spelling(
        name="aws_ebs_volume, attached",
        good={"volume": _VOLUME, "attached": _ATTACHED},
        bad={"CKV2_AWS_2": {"volume": changed(_VOLUME, "encrypted", False), "attached": _ATTACHED}},
        good_differs={"CKV2_AWS_2": by_pack("nobody has reviewed aws_volume_attachment: the pack reports each")},
    ),
    Spelling(
        name="aws_autoscaling_group",
        good={"it": _SCALED},
        bad={
            "CKV_AWS_153": {"it": changed(_SCALED, "tags")},
            "CKV_AWS_315": {
                "it": of(
                    tokens.AUTO_SCALING_GROUP,
                    {"maxSize": 2, "minSize": 1, "launchConfiguration": "old", "tags": _SCALED.props["tags"]},
                )
            },
        },
    ),
    Spelling(
        name="aws_autoscaling_group, mixed_instances_policy",
        good={
            "it": of(
                tokens.AUTO_SCALING_GROUP,
                {
                    "maxSize": 2,
                    "minSize": 1,
                    "tags": _SCALED.props["tags"],
                    "mixedInstancesPolicy": {
                        "launchTemplate": {
                            "launchTemplateSpecification": {"launchTemplateId": "lt-0a1b2c3d4e5f60718", "version": "3"}
                        }
                    },
                },
            )
        },
        bad={"CKV_AWS_315": {"it": of(tokens.AUTO_SCALING_GROUP, {"maxSize": 2, "minSize": 1})}},
    ),
)
