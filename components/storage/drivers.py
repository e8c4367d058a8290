"""Permissions of the CSI drivers on the data's KMS key, which AWS's managed policies for them don't include."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_aws as aws

from components.base.iam import PodRole, Statement, document
from components.base.outputs import ClusterOutputs
from components.storage.permissions import data_key_read, volume_key_use
from spec.settings.cluster import AddonName


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
    place = {"cluster": cluster.name, "region": cluster.region, "account_id": cluster.account_id}
    return {
        AddonName.EBS_CSI: ("ebs-csi", volume_key_use("ec2", **place)),
        AddonName.FSX_CSI: ("fsx-csi", volume_key_use("fsx", **place)),
        AddonName.S3_CSI: ("s3-csi", [data_key_read(**place)]),
    }
