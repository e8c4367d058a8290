"""The launch template of a managed pool: image, volumes, network interfaces, market."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
import pulumi_aws as aws

from components.pools.user_data import user_data
from spec import interfaces
from spec.pools import keys
from spec.pools.pool_spec import PoolSpec, Volume, volumes


def machine_tags(pool: str, cluster: str, tags: Mapping[str, str]) -> dict[str, str]:
    """The platform's tags, the pool's, and a name, sorted by key."""
    return dict(sorted({**tags, keys.POOL: pool, "Name": f"{cluster}-{pool}"}.items()))


TAGGED: Final = ("instance", "network-interface", "volume")
"""Resource types that EC2 creates from a template and that the provider's default tags don't reach."""


@dataclass(frozen=True, kw_only=True)
class TemplateArgs:
    """Inputs of `launch_template`.

    Attributes:
        spec: The pool.
        tags: Tags of instances, volumes and network interfaces.
        security_groups: Security groups of every interface of an EFA pool; for other pools EKS adds the cluster's
            group.
        placement_group: Name of the placement group, if the pool has one.
        volume_key: KMS key of the volumes; the AWS managed key for EBS if None.
    """

    spec: PoolSpec
    tags: Mapping[str, str]
    security_groups: Sequence[pulumi.Input[str]] = ()
    placement_group: pulumi.Input[str] | None = None
    volume_key: pulumi.Input[str] | None = None


def launch_template(name: str, args: TemplateArgs, opts: pulumi.ResourceOptions) -> aws.ec2.LaunchTemplate:
    """Declare the launch template of a pool."""
    spec = args.spec
    return aws.ec2.LaunchTemplate(
        name,
        description=f"Nodes of pool {spec.name}",
        update_default_version=True,
        # The instance type of a Capacity Block is in the template, and then not in the node group (EKS User Guide,
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
        # Metrics every minute instead of every five; about 2 USD per month, on instances that cost more than that per
        # hour.
        monitoring=aws.ec2.LaunchTemplateMonitoringArgs(enabled=spec.gpu is not None),
        user_data=user_data(spec),
        tag_specifications=[
            aws.ec2.LaunchTemplateTagSpecificationArgs(resource_type=kind, tags=args.tags) for kind in TAGGED
        ],
        opts=opts,
    )


def _metadata() -> aws.ec2.LaunchTemplateMetadataOptionsArgs:
    """IMDSv2 only, and one hop: pods without host networking can't get the node's credentials."""
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
    """Network interfaces of EFA pools, each with the security groups: EC2 then refuses groups of the instance."""
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
    """Market of the instances. The node group selects Spot, not the template; a Capacity Block is in both."""
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
