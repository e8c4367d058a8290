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
"""One leads, one waits; they refuse to share a host, and the system pool has at least two nodes."""


@dataclass(frozen=True, kw_only=True)
class Gates:
    """Features of Karpenter that are off unless asked for, and which pools ask.

    Attributes:
        node_repair: Replace nodes that the node monitoring agent finds broken; for all pools or none, as Karpenter has
            it.
        node_overlay: Tell the scheduler what MIG nodes offer.
    """

    node_repair: bool
    node_overlay: bool

    @classmethod
    def of(cls, specs: Iterable[PoolSpec]) -> Gates:
        """What a set of pools asks for."""
        pools = tuple(specs)
        return cls(
            node_repair=any(spec.settings.node_repair for spec in pools),
            node_overlay=any(wants_overlay(spec) for spec in pools),
        )


def values(*, cluster: str, queue: pulumi.Input[str], gates: Gates, isolated: bool, pods_apart: bool) -> dict[str, Any]:
    """Values that differ from the chart's.

    Args:
        cluster: Name of the cluster; endpoint and CA are discovered from it.
        queue: Name of the interruption queue.
        gates: Features that the pools need.
        isolated: Whether the VPC has no way out: Karpenter then does not ask for prices, whose API has no private
            endpoint.
        pods_apart: Whether pods have subnets of their own, so that one interface of each node carries no pods.
    """
    return {
        "replicas": REPLICAS,
        "serviceAccount": {"name": SERVICE_ACCOUNT},
        # It calls AWS and the API server only: the VPC's resolver is enough, and CoreDNS may be what waits for a node.
        "dnsPolicy": "Default",
        "nodeSelector": {keys.ROLE: str(Role.SYSTEM)},
        # Half the CPU of upstream's example, so that it fits beside the other controllers on nodes of two vCPU.
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
                "reservedCapacity": True,
                # Acts on Spot machines alone, and on those only where the pool consolidates at all.
                "spotToSpotConsolidation": True,
            },
        },
    }
