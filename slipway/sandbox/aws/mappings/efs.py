"""EFS file systems, their mount targets and access points.

Source of the changes that force a new file system: hashicorp/terraform-provider-aws internal/service/efs/
file_system.go, read 2026-11; for mount targets and access points: what EFS has no operation to change (API Reference,
2015-02-01).
"""

# All functions of a mapping take the same arguments, used or not.
# ruff: noqa: ARG001

from __future__ import annotations

from slipway.sandbox.aws.client import Aws
from slipway.sandbox.aws.mapping import Call, Inputs, Item, ResourceMapping, Setting, Tags, find

SERVICE = "efs"
_TAGS = Tags("tag_resource", "untag_resource", {"ResourceId": "{id}"})
_DESCRIBE = Call("describe_file_systems", target={"FileSystemId": "{id}"}, item="FileSystems[0]")


def _read(aws: Aws, id: str, names: Inputs) -> Item | None:
    item = find(aws, SERVICE, _DESCRIBE, {"id": id})
    if item is None:
        return None
    policies = aws.call(SERVICE, "describe_lifecycle_configuration", FileSystemId=id)["LifecyclePolicies"]
    return {**item, "LifecyclePolicies": policies}


def _set_lifecycle(aws: Aws, id: str, inputs: Inputs) -> None:
    """Send all policies: AWS replaces the whole configuration, and an empty one turns it off."""
    policies = {"lifecyclePolicies": inputs.get("lifecyclePolicies") or []}
    Call("put_lifecycle_configuration", {"FileSystemId": "{id}"})(aws, SERVICE, policies, {"id": id})


FILE_SYSTEM = ResourceMapping(
    "aws:efs/fileSystem:FileSystem",
    SERVICE,
    create=Call("create_file_system", omit=frozenset({"lifecyclePolicies", "protection"})),
    id="FileSystemId",
    read=_read,
    delete=Call("delete_file_system", target={"FileSystemId": "{id}"}),
    force_new=frozenset({"availabilityZoneName", "creationToken", "encrypted", "kmsKeyId", "performanceMode"}),
    settings=(Setting(("lifecyclePolicies",), _set_lifecycle),),
    tags=_TAGS,
    from_item={"arn": "FileSystemArn"},
    computed={"dnsName": "{id}.efs.{region}.amazonaws.com"},
    drift=("encrypted", "lifecyclePolicies", "performanceMode"),
)

_DESCRIBE_TARGET = Call("describe_mount_targets", target={"MountTargetId": "{id}"}, item="MountTargets[0]")


def _read_target(aws: Aws, id: str, names: Inputs) -> Item | None:
    item = find(aws, SERVICE, _DESCRIBE_TARGET, {"id": id})
    if item is None:
        return None
    groups = aws.call(SERVICE, "describe_mount_target_security_groups", MountTargetId=id)["SecurityGroups"]
    return {**item, "SecurityGroups": groups}


MOUNT_TARGET = ResourceMapping(
    "aws:efs/mountTarget:MountTarget",
    SERVICE,
    create=Call("create_mount_target"),
    id="MountTargetId",
    read=_read_target,
    delete=Call("delete_mount_target", target={"MountTargetId": "{id}"}),
    force_new=frozenset({"fileSystemId", "ipAddress", "ipAddressType", "ipv6Address", "subnetId"}),
    settings=(
        Setting(
            ("securityGroups",),
            Call("modify_mount_target_security_groups", target={"MountTargetId": "{id}"}),
            at_create=False,
        ),
    ),
    computed={
        "dnsName": "{fileSystemId}.efs.{region}.amazonaws.com",
        "fileSystemArn": "arn:{partition}:elasticfilesystem:{region}:{account}:file-system/{fileSystemId}",
    },
    drift=("fileSystemId", "subnetId", "securityGroups"),
)

ACCESS_POINT = ResourceMapping(
    "aws:efs/accessPoint:AccessPoint",
    SERVICE,
    create=Call("create_access_point"),
    id="AccessPointId",
    read=Call("describe_access_points", target={"AccessPointId": "{id}"}, item="AccessPoints[0]"),
    delete=Call("delete_access_point", target={"AccessPointId": "{id}"}),
    force_new=frozenset({"fileSystemId", "posixUser", "rootDirectory"}),
    tags=_TAGS,
    from_item={"arn": "AccessPointArn"},
    computed={"fileSystemArn": "arn:{partition}:elasticfilesystem:{region}:{account}:file-system/{fileSystemId}"},
    drift=("posixUser", "rootDirectory"),
)

_PUT_POLICY = Call("put_file_system_policy", omit=frozenset({"bypassPolicyLockoutSafetyCheck"}))

POLICY = ResourceMapping(
    "aws:efs/fileSystemPolicy:FileSystemPolicy",
    SERVICE,
    create=_PUT_POLICY,
    id="{fileSystemId}",
    read=Call("describe_file_system_policy", target={"FileSystemId": "{id}"}),
    # Moto has no operation that removes a policy: it is deleted with its file system.
    delete=None,
    force_new=frozenset({"fileSystemId"}),
    settings=(Setting(("policy", "fileSystemId"), _PUT_POLICY, at_create=False),),
    drift=("policy",),
)

MAPPINGS = (FILE_SYSTEM, MOUNT_TARGET, ACCESS_POINT, POLICY)
