"""Values of the Karpenter chart (v1.14.1), as a pure function of what the pools need."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import pulumi

from components.pools.overlay import wants_overlay
from spec.pools import keys
from spec.pools.pool_spec import PoolSpec
from spec.settings.pools import Role

NAMESPACE: Final = "kube-system"
SERVICE_ACCOUNT: Final = "karpenter"
REPLICAS: Final = 2
"""A leader and a standby; pod anti-affinity keeps them on different nodes, and the system pool has at least two."""


@dataclass(frozen=True, kw_only=True)
class Gates:
    """Feature gates of Karpenter that are enabled only if a pool needs them.

    Attributes:
        node_repair: Replace nodes that the node monitoring agent reports unhealthy; for all pools or none, as in
            Karpenter.
        node_overlay: Declare the extended resources of MIG nodes to the scheduler.
        capacity_buffer: Keep idle nodes ready (alpha in v1.14).
        reserved_capacity: Launch into the reservations that pools name. Enabled, it launches every other node with the
            capacity reservation preference `none`, so that open reservations of the account are billed and not used
            (karpenter-provider-aws v1.14.1, pkg/providers/launchtemplate/types.go, LaunchModeTargeted).
    """

    node_repair: bool
    node_overlay: bool
    reserved_capacity: bool
    capacity_buffer: bool = False

    @classmethod
    def of(cls, specs: Iterable[PoolSpec]) -> Gates:
        """Feature gates that a set of pools needs."""
        pools = tuple(specs)
        return cls(
            node_repair=any(spec.settings.node_repair for spec in pools),
            node_overlay=any(wants_overlay(spec) for spec in pools),
            reserved_capacity=any(spec.settings.capacity.reservation is not None for spec in pools),
            capacity_buffer=any(spec.settings.capacity_buffer for spec in pools),
        )


def values(*, cluster: str, queue: pulumi.Input[str], gates: Gates, isolated: bool, pods_apart: bool) -> dict[str, Any]:
    """Values that differ from the chart's defaults.

    Args:
        cluster: Name of the cluster; endpoint and CA are discovered from it.
        queue: Name of the interruption queue.
        gates: Features that the pools need.
        isolated: Whether the VPC has no route to the internet: Karpenter then doesn't query prices, whose API has no
            private endpoint.
        pods_apart: Whether pods have subnets of their own, so that one network interface of each node carries no pods.
    """
    return {
        "replicas": REPLICAS,
        "serviceAccount": {"name": SERVICE_ACCOUNT},
        # It calls only AWS and the API server: the VPC's resolver is enough, and CoreDNS itself may wait for a node.
        "dnsPolicy": "Default",
        "nodeSelector": {keys.ROLE: str(Role.SYSTEM)},
        # Half the CPU of upstream's example, so that it fits beside the other controllers on nodes with two vCPUs.
        "controller": {"resources": {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"memory": "1Gi"}}},
        "settings": {
            "clusterName": cluster,
            "interruptionQueue": queue,
            "eksControlPlane": True,
            "isolatedVPC": isolated,
            "reservedENIs": "1" if pods_apart else "0",
            "featureGates": {
                "nodeOverlay": gates.node_overlay,
                "nodeRepair": gates.node_repair,
                "reservedCapacity": gates.reserved_capacity,
                **({"capacityBuffer": True} if gates.capacity_buffer else {}),
                # Affects only Spot instances of pools with consolidation.
                "spotToSpotConsolidation": True,
            },
        },
    }
