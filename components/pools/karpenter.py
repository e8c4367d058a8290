"""A pool as a Karpenter NodePool: scales from zero for pending pods, with the instance type of the lowest price."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, Final

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_kubernetes.apiextensions import CustomResource

from components.base.kubernetes import ManifestKind
from components.base.outputs import ClusterOutputs, NetworkOutputs
from components.pools import nodeclass, nodepool, overlay
from components.pools.buffer import CapacityBuffer
from components.pools.fabric import Fabric, FabricArgs
from components.pools.roles import NodeRoleOutputs
from components.pools.tags import machine_tags
from spec.durations import seconds
from spec.pools import keys
from spec.pools.facts import facts
from spec.pools.pool_spec import PoolSpec

DELETE_MARGIN: Final = 1
"""Hours for the last node to be terminated after its drain."""


@dataclass(frozen=True, kw_only=True)
class KarpenterPoolArgs:
    """Inputs of `KarpenterPool`.

    Attributes:
        spec: The pool.
        cluster: The cluster.
        network: The network.
        node_role: Role of its nodes; it must have an instance profile.
        controller: Karpenter, its CRDs and its queue, which are created before a pool and deleted after it.
        volume_key: KMS key of the nodes' volumes; the AWS managed key for EBS if None.
        weight: Karpenter tries NodePools of a higher weight first; None where no pool has a fallback.
    """

    spec: PoolSpec
    cluster: ClusterOutputs
    network: NetworkOutputs
    node_role: NodeRoleOutputs
    controller: Sequence[pulumi.Resource]
    volume_key: pulumi.Input[str] | None = None
    weight: int | None = None


class KarpenterPool(pulumi.ComponentResource):
    """A NodePool, its EC2NodeClass and, if its GPUs are partitioned or shared, its NodeOverlay.

    NodePool and EC2NodeClass are not `deleted_with` the cluster, unlike other in-cluster resources: only their
    deletion, while Karpenter still runs, terminates their instances, which would otherwise outlive the cluster and keep
    costing money (aws/karpenter-provider-aws#1268).
    """

    PULUMI_TYPE: Final = "slipway:pools:KarpenterPool"

    node_pool: CustomResource

    def __init__(self, name: str, args: KarpenterPoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        spec, cluster = args.spec, args.cluster.resource
        ready = [*args.controller, *args.node_role.ready, *args.network.ready]
        fabric = self._make_fabric(name, args) if spec.efa_count else None
        outlives = pulumi.ResourceOptions(parent=self, depends_on=[*ready, *([fabric] if fabric else [])])
        before = [self._make(spec, f"{name}-node-class", nodeclass.KIND, _node_class(args, fabric), outlives)]
        if overlay.wants_overlay(spec):
            with_cluster = pulumi.ResourceOptions(parent=self, depends_on=ready, deleted_with=cluster)
            before.append(self._make(spec, f"{name}-overlay", overlay.KIND, overlay.node_overlay(spec), with_cluster))
        last = pulumi.ResourceOptions(
            parent=self,
            depends_on=[*ready, *before],
            custom_timeouts=pulumi.CustomTimeouts(delete=_longest_deletion(spec)),
        )
        body = nodepool.node_pool(spec, args.weight)
        self.node_pool = self._make(spec, f"{name}-node-pool", nodepool.KIND, body, last)
        if spec.settings.capacity_buffer:
            inside = pulumi.ResourceOptions(parent=self, deleted_with=cluster)
            CapacityBuffer(f"{name}-buffer", spec, self.node_pool, inside)
        self.register_outputs({"nodePool": spec.name, "pool": facts(spec)})

    def _make(
        self, spec: PoolSpec, name: str, kind: ManifestKind, body: dict[str, Any], opts: pulumi.ResourceOptions
    ) -> CustomResource:
        """All three have the name of the pool or fallback: its nodes have it in the label `karpenter.sh/nodepool`."""
        return CustomResource(
            name,
            api_version=kind.api_version,
            kind=kind.kind,
            metadata=kubernetes.meta.v1.ObjectMetaArgs(name=spec.name, labels={keys.POOL: spec.pool}),
            spec=body,
            opts=opts,
        )

    def _make_fabric(self, name: str, args: KarpenterPoolArgs) -> Fabric:
        return Fabric(
            f"{name}-fabric",
            FabricArgs(
                pool=args.spec.name,
                cluster=args.cluster.name,
                vpc_id=args.network.vpc_id,
                placement_group=args.spec.placement_group,
            ),
            pulumi.ResourceOptions(parent=self),
        )


def _longest_deletion(spec: PoolSpec) -> str:
    """Deleting a NodePool drains and terminates every node of it, and a drain lasts up to `terminationGracePeriod`."""
    grace = seconds(spec.settings.disruption.termination_grace_period)
    return f"{ceil(grace / 3600) + DELETE_MARGIN}h"


def _node_class(args: KarpenterPoolArgs, fabric: Fabric | None) -> dict[str, Any]:
    spec, cluster = args.spec, args.cluster
    if args.node_role.instance_profile is None:
        msg = f"pools.{spec.name}: nodes of Karpenter need an instance profile, but their node role has none"
        raise ValueError(msg)
    return nodeclass.node_class(
        nodeclass.NodeClassArgs(
            spec=spec,
            cluster=cluster.name,
            instance_profile=args.node_role.instance_profile,
            placement_group=fabric.placement_group_name if fabric else None,
            tags=machine_tags(spec.pool, cluster.name, cluster.tags),
            volume_key=args.volume_key,
            subnets=args.network.known_subnets,
        )
    )
