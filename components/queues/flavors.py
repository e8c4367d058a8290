"""ResourceFlavors: one for each pool that teams share, named like it, and made from its labels and taints alone.

How a job finds its pool: Kueue tries the flavors of the team's queue in order, passes over those whose labels
contradict the job's node selector, whose taints it does not tolerate or whose quota is used up, and gives the job the
labels and tolerations of the one that it takes. A flavor names the taint `nvidia.com/gpu` and does not tolerate it for
the job: so what has not asked for GPUs never fills the processors of GPU nodes, and all other taints are Kueue's affair
(CRD of ResourceFlavor, `nodeTaints`: "Workloads' podsets must have tolerations for these nodeTaints in order to get
assigned this ResourceFlavor"; kueue 0.19.2).
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Final

from spec.pools import keys
from spec.pools.pool_spec import PoolSpec
from spec.settings.capacity import Market
from spec.settings.queues import Queues
from spec.teams.shares import shareable

API: Final = "kueue.x-k8s.io/v1beta2"
_RANK: Final = (Market.RESERVED, Market.ON_DEMAND, Market.SPOT)
"""At one price, what is paid for already comes first."""
_EXPENSIVE: Final = Decimal("Infinity")


def ordered(pools: Iterable[PoolSpec], settings: Queues) -> list[PoolSpec]:
    """Pools that teams share in the order in which a job that names none tries them.

    CPU pools, then GPU pools; spot before others where that is wished; then by the list price of a GPU, or of a vCPU.
    """

    def rank(spec: PoolSpec) -> tuple[bool, bool, Decimal, int, str]:
        late = settings.spot_first and spec.market is not Market.SPOT
        return (spec.gpu is not None, late, unit_price(spec), _RANK.index(spec.market), spec.name)

    return sorted((spec for spec in pools if shareable(spec)), key=rank)


def unit_price(spec: PoolSpec) -> Decimal:
    """On-demand price of the cheapest GPU of a pool, or vCPU, in USD an hour; infinite where no type has a price."""
    prices = [
        kind.usd_per_hour / (spec.gpu_count or kind.vcpus)
        for kind in spec.instance_types
        if kind.usd_per_hour is not None
    ]
    return min(prices, default=_EXPENSIVE)


def by_topology(spec: PoolSpec, settings: Queues) -> bool:
    """Whether jobs are placed by the distance of the pool's nodes.

    Only where the nodes stand: Kueue counts ready nodes alone, and makes up for missing ones by ProvisioningRequests,
    which Karpenter does not know; on an elastic pool nothing would ever be admitted. Those have their placement group.
    MultiKueue stops a queue whose flavor has a topology (both: kueue.sigs.k8s.io, "Topology Aware Scheduling", 0.19).
    """
    return settings.topology and spec.efa_count > 0 and not spec.scales and not settings.workers


def resource_flavor(spec: PoolSpec, settings: Queues) -> dict[str, Any]:
    """The flavor of a pool."""
    asked = [taint for taint in spec.taints if taint.key == keys.GPU]
    given = [taint for taint in spec.taints if taint.key != keys.GPU]
    body: dict[str, Any] = {"nodeLabels": dict(spec.node_selector)}
    if asked:
        body["nodeTaints"] = [taint.manifest for taint in asked]
    if given:
        body["tolerations"] = [taint.toleration.manifest for taint in given]
    if by_topology(spec, settings):
        body["topologyName"] = spec.name
    return {"apiVersion": API, "kind": "ResourceFlavor", "metadata": {"name": spec.name}, "spec": body}


LEVELS: Final = (
    "topology.k8s.aws/network-node-layer-1",
    "topology.k8s.aws/network-node-layer-2",
    "topology.k8s.aws/network-node-layer-3",
    "kubernetes.io/hostname",
)
"""Layers of EC2's network, from the widest, as the cloud provider labels nodes of types that tell their place
(kubernetes/cloud-provider-aws, pkg/providers/v1/topology.go; EC2 User Guide, "Amazon EC2 topology"), and the node."""


def topology(spec: PoolSpec) -> dict[str, Any]:
    """The levels at which a job on this pool can ask to be kept together."""
    levels = [{"nodeLabel": label} for label in LEVELS]
    return {"apiVersion": API, "kind": "Topology", "metadata": {"name": spec.name}, "spec": {"levels": levels}}
