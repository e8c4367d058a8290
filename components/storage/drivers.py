"""StorageClasses, and permissions of the CSI drivers on the data's KMS key, which AWS's managed policies for them don't
include.

`gp3` is the default. EKS creates a class `gp2` in every cluster; up to 1.29 it was the default, and of two defaults the
newer one would be used (EKS User Guide, "Review release notes for Kubernetes versions", 1.30; read 2026-11). The
catalog starts after 1.29, so the annotation of `gp2` needn't be removed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
import pulumi_aws as aws

from components.base.iam import PodRole, Statement, document
from components.base.outputs import ClusterOutputs
from components.storage.claims import EFS_DRIVER, EFS_OPTIONS, LUSTRE_DRIVER
from components.storage.key import data_key_read, volume_key_use
from components.storage.lustre import THROUGHPUT, VERSION
from spec.settings.cluster import AddonName
from spec.settings.storage import Lustre

SHARED, LUSTRE = "efs", "lustre"
EBS_DRIVER: Final = "ebs.csi.aws.com"


@dataclass(frozen=True, kw_only=True)
class LustrePlace:
    """Where file systems of the class `lustre` are created."""

    settings: Lustre  # deployment type and throughput, the same as for the parallel file system of the stack
    subnet_id: pulumi.Input[str]
    security_group_id: pulumi.Input[str]  # security group of the file servers


def block(key_arn: pulumi.Input[str], name: str, *, default: bool) -> dict[str, Any]:
    """ReadWriteOnce volumes, in the zone of the first pod."""
    parameters = {"type": "gp3", "encrypted": "true", "kmsKeyId": key_arn}
    manifest = _class(name, EBS_DRIVER, parameters, binding="WaitForFirstConsumer", grows=True)
    if default:
        manifest["metadata"]["annotations"] = {"storageclass.kubernetes.io/is-default-class": "true"}
    return manifest


def shared(file_system_id: pulumi.Input[str]) -> dict[str, Any]:
    """Directories of the shared file system, each with an access point with its own user and group.

    The path of an access point has at most 100 characters and four directories (botocore 1.44.5, efs `Path`), of which
    `/volumes/`, the slash and the driver's unique suffix use 47: the names of namespace and claim together can have 53.
    IAM limits namespaces of teams to 35, so the claim `checkpoints` always fits.

    Deleting the claim deletes the access point; the directory is kept (the driver's `deleteAccessPointRootDir` is off).
    """
    parameters = {
        "provisioningMode": "efs-ap",
        "fileSystemId": file_system_id,
        "directoryPerms": "0770",
        "basePath": "/volumes",
        "subPathPattern": "${.PVC.namespace}/${.PVC.name}",
        "ensureUniqueDirectory": "true",
    }
    return {**_class(SHARED, EFS_DRIVER, parameters, binding="Immediate"), "mountOptions": list(EFS_OPTIONS)}


def lustre(place: LustrePlace, key_arn: pulumi.Input[str], tags: Mapping[str, str]) -> dict[str, Any]:
    """Dedicated Lustre file systems: each takes minutes to create and has at least 1,200 GiB."""
    persistent = place.settings.deployment_type == "PERSISTENT_2"
    parameters: dict[str, Any] = {
        "subnetId": place.subnet_id,
        "securityGroupIds": place.security_group_id,
        "deploymentType": place.settings.deployment_type,
        "fileSystemTypeVersion": VERSION,
        "dataCompressionType": "LZ4",
        "extraTags": ",".join(f"{key}={value}" for key, value in sorted(tags.items())),
    }
    if persistent:
        parameters["perUnitStorageThroughput"] = str(place.settings.per_unit_storage_throughput or THROUGHPUT)
        parameters["kmsKeyId"] = key_arn
    manifest = _class(LUSTRE, LUSTRE_DRIVER, parameters, binding="Immediate", grows=True)
    return {**manifest, "mountOptions": ["flock"]}


def _class(
    name: str, driver: str, parameters: Mapping[str, Any], *, binding: str, grows: bool = False
) -> dict[str, Any]:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": driver,
        "parameters": dict(parameters),
        "reclaimPolicy": "Delete",
        "volumeBindingMode": binding,
        "allowVolumeExpansion": grows,
    }


@dataclass(frozen=True, kw_only=True)
class DriversArgs:
    """Inputs of `Drivers`.

    Attributes:
        roles: Roles of the EKS add-ons that have one.
        drivers: The EKS add-ons that create and mount volumes.
        cluster: The cluster.
    """

    roles: Mapping[AddonName, PodRole]
    drivers: Mapping[AddonName, pulumi.Resource]
    cluster: ClusterOutputs


class Drivers(pulumi.ComponentResource):
    """CSI drivers with permissions on the key. Claims depend on `ready`, so on destroy drivers are deleted after
    claims; `block` is the part of it for volumes of the default class."""

    PULUMI_TYPE: Final = "slipway:storage:Drivers"

    ready: Sequence[pulumi.Resource]
    block: Sequence[pulumi.Resource]

    def __init__(self, name: str, args: DriversArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        policies = {
            addon: aws.iam.RolePolicy(
                f"{name}-{key}",
                role=args.roles[addon].name,
                policy=document(*statements),
                opts=pulumi.ResourceOptions(parent=self),
            )
            for addon, (key, statements) in key_permissions(args.cluster).items()
            if addon in args.roles
        }
        self.ready = (*args.drivers.values(), *policies.values())
        self.block = tuple(
            resources[AddonName.EBS_CSI] for resources in (args.drivers, policies) if AddonName.EBS_CSI in resources
        )
        self.register_outputs({})


def key_permissions(cluster: ClusterOutputs) -> dict[AddonName, tuple[str, Sequence[Statement]]]:
    """Statements of each driver that uses the key, with its short key for logical names.

    EBS and FSx encrypt volumes that the driver creates; S3 decrypts objects that it reads. EFS uses its own grants,
    created with the file system.
    """
    place = {"cluster": cluster.owner, "region": cluster.region, "account_id": cluster.account_id}
    return {
        AddonName.EBS_CSI: ("ebs-csi", volume_key_use("ec2", **place)),
        AddonName.FSX_CSI: ("fsx-csi", volume_key_use("fsx", **place)),
        AddonName.S3_CSI: ("s3-csi", [data_key_read(**place)]),
    }
