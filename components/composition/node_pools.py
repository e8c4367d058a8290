"""All nodes of a platform: managed node groups first, then Cluster Autoscaler, then Karpenter with its pools.

Managed node groups depend only on the control plane and the CNI, and are created in parallel; controllers depend on
those of the system pools. Each pool is a component of its own, so that adding one doesn't change the others.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_aws as aws

from components.addons.cluster_autoscaler import ClusterAutoscaler, ClusterAutoscalerArgs
from components.addons.karpenter import Karpenter, KarpenterArgs
from components.base.outputs import ClusterOutputs, NetworkOutputs
from components.pools.karpenter import KarpenterPool, KarpenterPoolArgs
from components.pools.managed import ManagedPool, ManagedPoolArgs
from components.pools.node_role import NodeRole, NodeRoleArgs
from spec.pools.pool_spec import PoolSpec
from spec.settings.charts import Charts
from spec.settings.existing import CLUSTER_AUTOSCALER
from spec.settings.pools import Role

HIGHEST_WEIGHT: Final = 100  # maximum `spec.weight` of a NodePool (Karpenter v1.14.1, CRD of NodePool)


@dataclass(frozen=True, kw_only=True)
class NodePoolContext:
    """What every node pool needs."""

    specs: Mapping[str, PoolSpec]  # all pools of the platform, managed and elastic, by name
    cluster: ClusterOutputs
    network: NetworkOutputs
    isolated: bool  # whether the VPC has no route to the internet, only VPC endpoints
    opts: pulumi.ResourceOptions  # resource options of every component: the providers
    charts: Charts  # where charts come from
    volume_key: pulumi.Input[str] | None = None  # KMS key of the nodes' volumes; the AWS managed key for EBS where None
    caches: Sequence[str] = ()  # upstream registries with a pull-through cache
    scheduled: frozenset[str] = frozenset()  # names of pools whose limits a schedule changes
    installed: Collection[str] = ()  # add-ons that the cluster has
    instance_profile: str | None = None  # instance profile of the nodes of the cluster's own Karpenter


@dataclass(frozen=True, kw_only=True)
class ManagedPools:
    """Managed node groups."""

    pools: Mapping[str, ManagedPool]
    system: tuple[aws.eks.NodeGroup, ...]  # node groups of the system pools; what needs a node depends on these


def managed_pools(context: NodePoolContext) -> ManagedPools:
    """Declare the managed pools, with one node role for all of them."""
    wanted = {name: spec for name, spec in sorted(context.specs.items()) if spec.managed}
    if not wanted:
        return ManagedPools(pools={}, system=())
    role = NodeRole("nodes", NodeRoleArgs(cluster=context.cluster, caches=context.caches), context.opts)
    pools = {
        name: ManagedPool(
            f"pool-{name}",
            ManagedPoolArgs(
                spec=spec,
                cluster=context.cluster,
                network=context.network,
                node_role=role.outputs,
                volume_key=context.volume_key,
            ),
            context.opts,
        )
        for name, spec in wanted.items()
    }
    system = tuple(pool.node_group for name, pool in pools.items() if context.specs[name].role is Role.SYSTEM)
    return ManagedPools(pools=pools, system=system)


def elastic_pools(context: NodePoolContext, managed: ManagedPools) -> pulumi.Input[str]:
    """Declare the autoscalers, each only where a pool uses it, and Karpenter's pools; return the instance profile of
    Karpenter's nodes, empty without such pools."""
    scales = any(spec.managed and spec.scales for spec in context.specs.values())
    if scales and CLUSTER_AUTOSCALER not in context.installed:
        args = ClusterAutoscalerArgs(
            cluster=context.cluster, system_node_groups=managed.system, caches=context.caches, charts=context.charts
        )
        ClusterAutoscaler("cluster-autoscaler", args, context.opts)
    scaled = [spec for _, spec in sorted(context.specs.items()) if not spec.managed]
    elastic = {spec.name: spec for pool in scaled for spec in (pool, *pool.fallbacks)}
    return _karpenter(context, managed, elastic) if elastic else ""


def _karpenter(context: NodePoolContext, managed: ManagedPools, elastic: Mapping[str, PoolSpec]) -> pulumi.Input[str]:
    profile: pulumi.Input[str] = context.instance_profile or ""
    ready = list[pulumi.Resource]()
    if context.instance_profile is None:
        profile, ready = _controller(context, managed, elastic)
    weights = _weights(elastic.values())
    for name, spec in elastic.items():
        pool = KarpenterPoolArgs(
            spec=spec,
            cluster=context.cluster,
            instance_profile=profile,
            after=[*ready, *context.network.ready],
            subnets=context.network.known_subnets,
            vpc_id=context.network.vpc_id,
            volume_key=context.volume_key,
            weight=weights.get(name),
            scheduled=spec.pool in context.scheduled,
        )
        KarpenterPool(f"pool-{name}", pool, context.opts)
    return profile


def _controller(
    context: NodePoolContext, managed: ManagedPools, elastic: Mapping[str, PoolSpec]
) -> tuple[pulumi.Input[str], list[pulumi.Resource]]:
    args = NodeRoleArgs(cluster=context.cluster, launches_itself=True, caches=context.caches)
    role = NodeRole("karpenter-nodes", args, context.opts).outputs
    karpenter = Karpenter(
        "karpenter",
        KarpenterArgs(
            cluster=context.cluster,
            node_role=role,
            pools=elastic,
            system_node_groups=managed.system,
            isolated=context.isolated,
            pods_apart=bool(context.network.pod_subnets),
            caches=context.caches,
            charts=context.charts,
        ),
        context.opts,
    )
    return role.instance_profile, [*karpenter.ready, *role.ready]


def _weights(specs: Collection[PoolSpec]) -> dict[str, int]:
    """Weights of NodePools, if a pool has fallbacks: all pools have the highest, and each fallback has less than the
    one before it, so that pods that name no pool prefer none for its fallbacks."""
    if not any(spec.fallbacks for spec in specs):
        return {}
    return {
        each.name: HIGHEST_WEIGHT - position
        for spec in specs
        if spec.name == spec.pool
        for position, each in enumerate((spec, *spec.fallbacks))
    }
