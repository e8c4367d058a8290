"""Subnets by zone letter: private ones for nodes, small public ones for NAT and load balancers, and ones for pods only.

How pods get addresses of their own CIDR: the VPC CNI looks for subnets in the node's zone that are tagged
`kubernetes.io/role/cni`, and creates further network interfaces there (`ENABLE_SUBNET_DISCOVERY`, on by default since
v1.18). It fills the node's first interface first, which holds 110 pods with prefix delegation, so pods would rarely use
their CIDR (aws/amazon-vpc-cni-k8s#2959); the value `0` on the nodes' subnets keeps pods out of them (#3380 and #3647,
in v1.22, 2026-05).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Final

import pulumi
import pulumi_aws as aws

from spec.subnets import ZoneRanges

CNI_TAG: Final = "kubernetes.io/role/cni"
DISCOVERY_TAG: Final = "karpenter.sh/discovery"
"""Karpenter finds subnets by this tag (Karpenter v1, EC2NodeClass `subnetSelectorTerms`)."""
INTERNAL_LOAD_BALANCERS: Final = {"kubernetes.io/role/internal-elb": "1"}
INTERNET_LOAD_BALANCERS: Final = {"kubernetes.io/role/elb": "1"}
"""Load balancers find subnets by these tags (EKS User Guide, "Subnet tagging"). The installed versions don't need the
older tag `kubernetes.io/cluster/<name>` (AWS Load Balancer Controller since v2.1.2)."""


@dataclass(frozen=True, kw_only=True)
class SubnetsArgs:
    """Inputs of `Subnets`.

    Attributes:
        vpc_id: The VPC.
        pods_vpc_id: The VPC ID once the VPC has the CIDR of pods; None if pods share the nodes' subnets.
        ranges: CIDRs by zone letter.
        zones: Zone name by zone letter.
        cluster_name: EKS cluster of the subnets, for their names and Karpenter's tag.
    """

    vpc_id: pulumi.Input[str]
    pods_vpc_id: pulumi.Input[str] | None
    ranges: Mapping[str, ZoneRanges]
    zones: Mapping[str, str]
    cluster_name: str


class Subnets(pulumi.ComponentResource):
    """Subnets of a network, each in one zone; none assigns public addresses."""

    PULUMI_TYPE: Final = "slipway:network:Subnets"

    private: Mapping[str, aws.ec2.Subnet]
    public: Mapping[str, aws.ec2.Subnet]
    pods: Mapping[str, aws.ec2.Subnet]

    def __init__(self, name: str, args: SubnetsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        self._name, self._args = name, args
        self.private = {
            letter: self._subnet("private", letter, ranges.private, args.vpc_id, self._node_tags())
            for letter, ranges in args.ranges.items()
        }
        self.public = {
            letter: self._subnet("public", letter, ranges.public, args.vpc_id, INTERNET_LOAD_BALANCERS)
            for letter, ranges in args.ranges.items()
        }
        self.pods = {
            letter: self._subnet("pods", letter, ranges.pods, args.pods_vpc_id, {CNI_TAG: "1"})
            for letter, ranges in args.ranges.items()
            if ranges.pods is not None and args.pods_vpc_id is not None
        }
        self.register_outputs({})

    def _node_tags(self) -> dict[str, str]:
        tags = {DISCOVERY_TAG: self._args.cluster_name, **INTERNAL_LOAD_BALANCERS}
        return tags if self._args.pods_vpc_id is None else {**tags, CNI_TAG: "0"}

    def _subnet(
        self, kind: str, letter: str, cidr: IPv4Network, vpc_id: pulumi.Input[str], tags: Mapping[str, str]
    ) -> aws.ec2.Subnet:
        return aws.ec2.Subnet(
            f"{self._name}-{kind}-{letter}",
            vpc_id=vpc_id,
            cidr_block=str(cidr),
            availability_zone=self._args.zones[letter],
            map_public_ip_on_launch=False,
            tags={"Name": f"{self._args.cluster_name}-{kind}-{letter}", **tags},
            opts=pulumi.ResourceOptions(parent=self),
        )
