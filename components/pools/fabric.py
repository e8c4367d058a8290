"""What the nodes of one EFA pool share: a security group that allows EFA traffic, and a placement group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_aws as aws

from spec.pools import keys

ALL_PROTOCOLS: Final = "-1"


def security_group_tags(pool: str, cluster: str) -> dict[str, str]:
    """Tags by which Karpenter finds the security group of a pool's fabric, and only that one."""
    return {keys.CLUSTER: cluster, keys.POOL: pool}


@dataclass(frozen=True, kw_only=True)
class FabricArgs:
    """Inputs of `Fabric`.

    Attributes:
        pool: Name of the pool.
        cluster: Name of the cluster.
        vpc_id: The VPC of its nodes.
        placement_group: Whether its nodes have a cluster placement group.
    """

    pool: str
    cluster: str
    vpc_id: pulumi.Input[str]
    placement_group: bool


class Fabric(pulumi.ComponentResource):
    """The EFA network between the nodes of one pool.

    EFA traffic needs a security group that allows ingress from and egress to *itself*; a rule for 0.0.0.0/0 isn't
    enough (EC2 User Guide, "Get started with EFA and MPI", step 1; gardener/gardener-extension-provider-aws#1832). The
    group has no other egress: every interface of such a node is also in the cluster's security group, through which
    nodes reach registries and AWS services like those of other pools.
    """

    PULUMI_TYPE: Final = "slipway:pools:Fabric"

    security_group_id: pulumi.Output[str]
    placement_group_name: pulumi.Output[str] | None

    def __init__(self, name: str, args: FabricArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        group = aws.ec2.SecurityGroup(
            f"{name}-security-group",
            description=f"Elastic Fabric Adapters of pool {args.pool}: nodes of the pool, among themselves",
            vpc_id=args.vpc_id,
            tags=security_group_tags(args.pool, args.cluster),
            opts=child,
        )
        self._make_rules(name, group.id, child)
        self.security_group_id = group.id
        self.placement_group_name = None
        if args.placement_group:
            placement = aws.ec2.PlacementGroup(f"{name}-placement-group", strategy="cluster", opts=child)
            self.placement_group_name = placement.name
        self.register_outputs({"securityGroupId": self.security_group_id})

    def _make_rules(self, name: str, group: pulumi.Output[str], child: pulumi.ResourceOptions) -> None:
        aws.vpc.SecurityGroupIngressRule(
            f"{name}-from-itself",
            security_group_id=group,
            referenced_security_group_id=group,
            ip_protocol=ALL_PROTOCOLS,
            description="EFA from nodes of the same pool",
            opts=child,
        )
        aws.vpc.SecurityGroupEgressRule(
            f"{name}-to-itself",
            security_group_id=group,
            referenced_security_group_id=group,
            ip_protocol=ALL_PROTOCOLS,
            description="EFA to nodes of the same pool",
            opts=child,
        )
