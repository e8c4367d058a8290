"""The EC2NodeClass of an elastic pool, as a manifest (karpenter.k8s.aws/v1, Karpenter v1.14.1)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import pulumi

from components.base.kubernetes import ManifestKind
from components.pools.fabric import security_group_tags
from components.pools.user_data import karpenter_user_data
from spec import interfaces
from spec.catalog import amis
from spec.pools.pool_spec import PoolSpec, Volume, volumes

KIND: Final = ManifestKind("karpenter.k8s.aws/v1", "EC2NodeClass")
SUBNET_TAG: Final = "karpenter.sh/discovery"
"""Tag of the subnets of nodes, with the cluster's name; `components.network` sets it."""
CLUSTER_GROUP_TAG: Final = "aws:eks:cluster-name"
"""Tag that EKS sets on the cluster's security group and that only EKS can set (EKS User Guide, "View Amazon EKS
security group requirements for clusters"). `kubernetes.io/cluster/<name>` is also on groups of load balancers."""


@dataclass(frozen=True, kw_only=True)
class NodeClassArgs:
    """Inputs of `node_class`.

    Attributes:
        spec: The pool.
        cluster: Name of the cluster.
        instance_profile: Name of the instance profile of its nodes. The program creates it, because Karpenter could
            create profiles only with the IAM API, which has no private endpoint (Karpenter v1.14 documentation,
            NodeClasses, `spec.instanceProfile`), and six more permissions.
        placement_group: Name of its placement group, if it has one.
        tags: Tags of instances, volumes and network interfaces.
        volume_key: KMS key of the volumes; the AWS managed key for EBS if None.
        subnets: IDs of the subnets of an existing VPC by zone letter.
    """

    spec: PoolSpec
    cluster: str
    instance_profile: pulumi.Input[str]
    placement_group: pulumi.Input[str] | None
    tags: Mapping[str, str]
    volume_key: pulumi.Input[str] | None = None
    subnets: Mapping[str, pulumi.Input[str]] = field(default_factory=dict)


def node_class(args: NodeClassArgs) -> dict[str, Any]:
    """`spec` of the EC2NodeClass.

    Subnets and security groups are selected by tags, which are known before the resources exist: so the first preview
    validates the whole manifest. Subnets of an existing VPC are selected by their IDs, because Karpenter looks for tags
    in all VPCs of the account. The NodePool selects the zones.
    """
    spec = args.spec
    manifest: dict[str, Any] = {
        "amiSelectorTerms": [{"alias": amis.karpenter_alias(spec.settings.os, spec.ami_release)}],
        "instanceProfile": args.instance_profile,
        "subnetSelectorTerms": _subnets(args),
        "securityGroupSelectorTerms": _security_groups(args),
        "blockDeviceMappings": [_device(volume, args.volume_key) for volume in volumes(spec)],
        # IMDSv2 only, and one hop: pods without host networking can't get the node's credentials.
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
    user_data = karpenter_user_data(spec)
    if user_data:
        manifest["userData"] = user_data
    if spec.efa_count:
        manifest["networkInterfaces"] = [
            {"networkCardIndex": interface.card, "deviceIndex": interface.device, "interfaceType": interface.kind}
            for interface in interfaces.karpenter(spec.instance_types[0])
        ]
    if args.placement_group is not None:
        manifest["placementGroupSelector"] = {"name": args.placement_group}
    return manifest


def _subnets(args: NodeClassArgs) -> list[dict[str, Any]]:
    ids = [args.subnets[letter] for letter in args.spec.zone_letters if letter in args.subnets]
    return [{"id": id} for id in ids] or [{"tags": {SUBNET_TAG: args.cluster}}]


def _security_groups(args: NodeClassArgs) -> list[dict[str, Any]]:
    terms = [{"tags": {CLUSTER_GROUP_TAG: args.cluster}}]
    if args.spec.efa_count:
        terms.append({"tags": security_group_tags(args.spec.name, args.cluster)})
    return terms


def _device(volume: Volume, key: pulumi.Input[str] | None) -> dict[str, Any]:
    encryption = {"encrypted": True} if key is None else {"encrypted": True, "kmsKeyID": key}
    return {
        "deviceName": volume.device,
        "rootVolume": volume.holds_data,
        "ebs": {
            "volumeType": "gp3",
            "volumeSize": f"{volume.size_gib}Gi",
            "iops": volume.iops,
            "throughput": volume.throughput_mibps,
            **encryption,
            "deleteOnTermination": True,
        },
    }
