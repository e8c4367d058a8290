"""The launch template of a managed pool: what its machines are, down to the last network card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
import pulumi_aws as aws

from components.pools import interfaces
from components.pools.user_data import user_data
from spec.pools.pool_spec import PoolSpec
from spec.pools.volumes import Volume, volumes

TAGGED: Final = ("instance", "network-interface", "volume")
"""What EC2 makes from a template and default tags of the provider don't reach."""


@dataclass(frozen=True, kw_only=True)
class TemplateArgs:
    """Inputs of a launch template.

    Attributes:
        spec: The pool.
        tags: Tags of machines, volumes and interfaces.
        security_groups: Groups of every interface of an EFA pool; EKS gives others the cluster's group itself.
        placement_group: Name of the placement group, where the pool has one.
        volume_key: KMS key of the volumes; AWS's own for EBS where none is given.
    """

    spec: PoolSpec
    tags: Mapping[str, str]
    security_groups: Sequence[pulumi.Input[str]] = ()
    placement_group: pulumi.Input[str] | None = None
    volume_key: pulumi.Input[str] | None = None


def launch_template(name: str, args: TemplateArgs, opts: pulumi.ResourceOptions) -> aws.ec2.LaunchTemplate:
    """Register the launch template of a pool."""
    spec = args.spec
    return aws.ec2.LaunchTemplate(
        name,
        description=f"Nodes of pool {spec.name}",
        update_default_version=True,
        # The type of a Capacity Block stands in the template, and then not in the node group as well (EKS User Guide,
        # "Create a managed node group with Capacity Blocks for ML"; eks:CreateNodegroup, instanceTypes).
        instance_type=spec.instance_types[0].name if spec.capacity_block else None,
        instance_market_options=_market(spec),
        capacity_reservation_specification=_reservation(spec),
        placement=(
            aws.ec2.LaunchTemplatePlacementArgs(group_name=args.placement_group) if args.placement_group else None
        ),
        network_interfaces=_network_interfaces(spec, args.security_groups),
        block_device_mappings=[_device(volume, args.volume_key) for volume in volumes(spec)],
        metadata_options=_metadata(),
        # A metric a minute instead of one in five; about 2 USD a month, on machines of more than that an hour.
        monitoring=aws.ec2.LaunchTemplateMonitoringArgs(enabled=spec.gpu is not None),
        user_data=user_data(spec),
        tag_specifications=[
            aws.ec2.LaunchTemplateTagSpecificationArgs(resource_type=kind, tags=args.tags) for kind in TAGGED
        ],
        opts=opts,
    )


def _metadata() -> aws.ec2.LaunchTemplateMetadataOptionsArgs:
    """IMDSv2 only, and one hop: pods that are not on the host's network can't take the node's credentials."""
    return aws.ec2.LaunchTemplateMetadataOptionsArgs(
        http_endpoint="enabled", http_tokens="required", http_put_response_hop_limit=1
    )


def _device(volume: Volume, key: pulumi.Input[str] | None) -> aws.ec2.LaunchTemplateBlockDeviceMappingArgs:
    return aws.ec2.LaunchTemplateBlockDeviceMappingArgs(
        device_name=volume.device,
        ebs=aws.ec2.LaunchTemplateBlockDeviceMappingEbsArgs(
            volume_type="gp3",
            volume_size=volume.size_gib,
            iops=volume.iops,
            throughput=volume.throughput_mibps,
            encrypted="true",
            kms_key_id=key,
            delete_on_termination="true",
        ),
    )


def _network_interfaces(
    spec: PoolSpec, groups: Sequence[pulumi.Input[str]]
) -> list[aws.ec2.LaunchTemplateNetworkInterfaceArgs] | None:
    """Where interfaces are laid out, security groups go on each: EC2 then refuses groups of the whole machine."""
    if not spec.efa_count:
        return None
    return [
        aws.ec2.LaunchTemplateNetworkInterfaceArgs(
            network_card_index=interface.card,
            device_index=interface.device,
            interface_type=interface.kind,
            security_groups=groups,
            delete_on_termination="true",
        )
        for interface in interfaces.managed(spec.instance_types[0])
    ]


def _market(spec: PoolSpec) -> aws.ec2.LaunchTemplateInstanceMarketOptionsArgs | None:
    """Spot is chosen by the node group and not here; a Capacity Block by both."""
    if not spec.capacity_block:
        return None
    return aws.ec2.LaunchTemplateInstanceMarketOptionsArgs(market_type="capacity-block")


def _reservation(spec: PoolSpec) -> Any:
    reservation = spec.settings.capacity.reservation
    if reservation is None:
        return None
    target = aws.ec2.LaunchTemplateCapacityReservationSpecificationCapacityReservationTargetArgs(
        capacity_reservation_id=reservation.id
    )
    return aws.ec2.LaunchTemplateCapacityReservationSpecificationArgs(capacity_reservation_target=target)
