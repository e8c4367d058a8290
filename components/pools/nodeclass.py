"""The EC2NodeClass of an elastic pool, as a manifest (karpenter.k8s.aws/v1, Karpenter v1.14.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi

from components.pools import interfaces
from components.pools.manifests import ManifestKind
from components.pools.spec import PoolSpec
from components.pools.volumes import Volume, volumes
from infra.catalog import amis

KIND: Final = ManifestKind("karpenter.k8s.aws/v1", "EC2NodeClass")


@dataclass(frozen=True, kw_only=True)
class NodeClassArgs:
    """Inputs of an EC2NodeClass.

    Attributes:
        spec: The pool.
        instance_profile: Name of the instance profile of its machines. A profile made here, and not a role from which
            Karpenter would make profiles itself: that needs the IAM API, which has no private endpoint (Karpenter v1.14
            documentation, NodeClasses, `spec.instanceProfile`), and six more permissions.
        subnets: Ids of the subnets of the pool's zones.
        security_groups: Ids of the security groups of its machines.
        placement_group: Name of its placement group, where it has one.
        tags: Tags of machines, volumes and interfaces.
    """

    spec: PoolSpec
    instance_profile: pulumi.Input[str]
    subnets: Sequence[pulumi.Input[str]]
    security_groups: Sequence[pulumi.Input[str]]
    placement_group: pulumi.Input[str] | None
    tags: Mapping[str, str]


def node_class(args: NodeClassArgs) -> dict[str, Any]:
    """`spec` of the EC2NodeClass."""
    spec = args.spec
    manifest: dict[str, Any] = {
        "amiSelectorTerms": [{"alias": amis.karpenter_alias(spec.settings.os, spec.settings.ami_release)}],
        "instanceProfile": args.instance_profile,
        "subnetSelectorTerms": [{"id": subnet} for subnet in args.subnets],
        "securityGroupSelectorTerms": [{"id": group} for group in args.security_groups],
        "blockDeviceMappings": [_device(volume) for volume in volumes(spec)],
        # IMDSv2 only, and one hop: pods that are not on the host's network can't take the node's credentials.
        "metadataOptions": {"httpEndpoint": "enabled", "httpTokens": "required", "httpPutResponseHopLimit": 1},
        "kubelet": {"maxPods": spec.settings.max_pods},
        "detailedMonitoring": spec.gpu is not None,
        "tags": dict(args.tags),
    }
    reservation = spec.settings.capacity.reservation
    if reservation is not None:
        manifest["capacityReservationSelectorTerms"] = [{"id": reservation.id}]
    if spec.settings.local_nvme == "raid0":
        manifest["instanceStorePolicy"] = "RAID0"
    if spec.efa_count:
        manifest["networkInterfaces"] = [
            {"networkCardIndex": found.card, "deviceIndex": found.device, "interfaceType": found.kind}
            for found in interfaces.karpenter(spec.instance_types[0])
        ]
    if args.placement_group is not None:
        manifest["placementGroupSelector"] = {"name": args.placement_group}
    return manifest


def _device(volume: Volume) -> dict[str, Any]:
    return {
        "deviceName": volume.device,
        "rootVolume": volume.holds_data,
        "ebs": {
            "volumeType": "gp3",
            "volumeSize": f"{volume.size_gib}Gi",
            "iops": volume.iops,
            "throughput": volume.throughput_mibps,
            "encrypted": True,
            "deleteOnTermination": True,
        },
    }
