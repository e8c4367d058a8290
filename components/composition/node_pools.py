"""All nodes of a platform: managed groups first, then what scales them, then Karpenter with its pools.

Managed groups wait for the control plane and the CNI alone, all at the same time; what runs on nodes waits for those
of the system pools. Each pool is a component of its own, so that adding one changes nothing of the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from components.addons.cluster_autoscaler import ClusterAutoscaler, ClusterAutoscalerArgs
from components.addons.karpenter import Karpenter, KarpenterArgs
from components.base.outputs import ClusterHandle, NetworkHandle
from components.pools.karpenter import KarpenterPool, KarpenterPoolArgs
from components.pools.managed import ManagedPool, ManagedPoolArgs
from components.pools.node_role import NodeRole, NodeRoleArgs
from spec.pools.pool_spec import PoolSpec
from spec.settings.pools import Role


@dataclass(frozen=True, kw_only=True)
class Ground:
    """What every pool stands on.

    Attributes:
        specs: All pools of the platform, managed and elastic, by name.
        cluster: The cluster.
        network: The network.
        isolated: Whether the VPC has no way out but its endpoints.
        volume_key: KMS key of the machines' volumes; AWS's own for EBS where none is given.
        caches: Upstreams whose images come through the registry's caches.
        opts: Options of every component: the providers.
    """

    specs: Mapping[str, PoolSpec]
    cluster: ClusterHandle
    network: NetworkHandle
    isolated: bool
    opts: pulumi.ResourceOptions
    volume_key: pulumi.Input[str] | None = None
    caches: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class ManagedFleet:
    """Managed groups.

    Attributes:
        pools: Managed pools by name.
        system: Node groups of the system pools: what needs a node waits for these.
    """

    pools: Mapping[str, ManagedPool]
    system: tuple[aws.eks.NodeGroup, ...]


@dataclass(frozen=True, kw_only=True)
class ElasticFleet:
    """What follows the work.

    Attributes:
        autoscaler: Cluster Autoscaler, where a managed group scales.
        karpenter: Karpenter, where a pool is its.
        pools: Karpenter's pools by name.
    """

    autoscaler: ClusterAutoscaler | None
    karpenter: Karpenter | None
    pools: Mapping[str, KarpenterPool]


def managed_fleet(ground: Ground) -> ManagedFleet:
    """Make the managed pools, with one role for the nodes of all."""
    role = NodeRole("nodes", NodeRoleArgs(cluster=ground.cluster, caches=ground.caches), ground.opts)
    pools = {
        name: ManagedPool(
            f"pool-{name}",
            ManagedPoolArgs(
                spec=spec,
                cluster=ground.cluster,
                network=ground.network,
                node_role=role.handle,
                volume_key=ground.volume_key,
            ),
            ground.opts,
        )
        for name, spec in sorted(ground.specs.items())
        if spec.managed
    }
    system = tuple(pool.node_group for name, pool in pools.items() if ground.specs[name].role is Role.SYSTEM)
    return ManagedFleet(pools=pools, system=system)


def elastic_fleet(ground: Ground, managed: ManagedFleet) -> ElasticFleet:
    """Make what scales: each scaler only where a pool is its."""
    autoscaler = None
    if any(spec.managed and spec.scales for spec in ground.specs.values()):
        args = ClusterAutoscalerArgs(cluster=ground.cluster, home=managed.system)
        autoscaler = ClusterAutoscaler("cluster-autoscaler", args, ground.opts)
    elastic = {name: spec for name, spec in sorted(ground.specs.items()) if not spec.managed}
    if not elastic:
        return ElasticFleet(autoscaler=autoscaler, karpenter=None, pools={})
    karpenter, pools = _karpenter(ground, managed, elastic)
    return ElasticFleet(autoscaler=autoscaler, karpenter=karpenter, pools=pools)


def _karpenter(
    ground: Ground, managed: ManagedFleet, elastic: Mapping[str, PoolSpec]
) -> tuple[Karpenter, dict[str, KarpenterPool]]:
    args = NodeRoleArgs(cluster=ground.cluster, launches_itself=True, caches=ground.caches)
    role = NodeRole("karpenter-nodes", args, ground.opts)
    karpenter = Karpenter(
        "karpenter",
        KarpenterArgs(
            cluster=ground.cluster,
            node_role=role.handle,
            pools=elastic,
            home=managed.system,
            isolated=ground.isolated,
            pods_apart=bool(ground.network.pod_subnets),
        ),
        ground.opts,
    )
    pools = {
        name: KarpenterPool(
            f"pool-{name}",
            KarpenterPoolArgs(
                spec=spec,
                cluster=ground.cluster,
                network=ground.network,
                node_role=role.handle,
                controller=karpenter.ready,
                volume_key=ground.volume_key,
            ),
            ground.opts,
        )
        for name, spec in elastic.items()
    }
    return karpenter, pools
