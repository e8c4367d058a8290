"""ResourceFlavors: one for each pool that teams share, with the pool's name, built from its labels and taints.

How a job gets a pool: Kueue tries the flavors of the team's queue in order. It skips flavors whose labels contradict
the job's node selector, whose taints the job doesn't tolerate, or whose quota is used up, and adds the labels and
tolerations of the assigned flavor to the job. The taint `nvidia.com/gpu` is in `nodeTaints` of a flavor and not in its
tolerations: so jobs that request no GPU never use the CPUs of GPU nodes. Kueue adds the tolerations for all other
taints (CRD of ResourceFlavor, `nodeTaints`: "Workloads' podsets must have tolerations for these nodeTaints in order to
get assigned this ResourceFlavor"; kueue 0.19.2).
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
"""At the same price, prepaid capacity comes first."""
_EXPENSIVE: Final = Decimal("Infinity")


def ordered(pools: Iterable[PoolSpec], settings: Queues) -> list[PoolSpec]:
    """Shared pools, in the order in which Kueue tries them for a job that selects none.

    CPU pools, then GPU pools; pools in the order of the settings; Spot first if configured; then by the list price per
    GPU or vCPU.
    """
    order = settings.pool_order

    def rank(spec: PoolSpec) -> tuple[bool, int, bool, Decimal, int, str]:
        place = order.index(spec.name) if spec.name in order else len(order)
        late = settings.spot_first and spec.market is not Market.SPOT
        return (spec.gpu is not None, place, late, unit_price(spec), _RANK.index(spec.market), spec.name)

    return sorted((spec for spec in pools if shareable(spec)), key=rank)


def unit_price(spec: PoolSpec) -> Decimal:
    """Lowest on-demand price per GPU, or vCPU, of a pool in USD per hour; infinite if no instance type has a price."""
    prices = [
        kind.usd_per_hour / (spec.gpu_count or kind.vcpus)
        for kind in spec.instance_types
        if kind.usd_per_hour is not None
    ]
    return min(prices, default=_EXPENSIVE)


def by_topology(spec: PoolSpec, settings: Queues) -> bool:
    """Whether Kueue uses topology-aware scheduling on a pool.

    Only on pools whose nodes always exist: Kueue counts only ready nodes, and requests missing ones with
    ProvisioningRequests, which Karpenter doesn't support; on an elastic pool nothing would ever be admitted. Elastic
    pools use a placement group instead. MultiKueue stops a queue whose flavor has a topology (both: kueue.sigs.k8s.io,
    "Topology Aware Scheduling", 0.19).
    """
    return settings.topology and spec.efa_count > 0 and not spec.scales and not settings.workers


def resource_flavor(spec: PoolSpec, settings: Queues) -> dict[str, Any]:
    """The flavor of a pool."""
    node_taints = [taint for taint in spec.taints if taint.key == keys.GPU]
    tolerated = [taint for taint in spec.taints if taint.key != keys.GPU]
    body: dict[str, Any] = {"nodeLabels": dict(spec.node_selector)}
    if node_taints:
        body["nodeTaints"] = [taint.manifest for taint in node_taints]
    if tolerated:
        body["tolerations"] = [taint.toleration.manifest for taint in tolerated]
    if by_topology(spec, settings):
        body["topologyName"] = spec.name
    return {"apiVersion": API, "kind": "ResourceFlavor", "metadata": {"name": spec.name}, "spec": body}


LEVELS: Final = (
    "topology.k8s.aws/network-node-layer-1",
    "topology.k8s.aws/network-node-layer-2",
    "topology.k8s.aws/network-node-layer-3",
    "kubernetes.io/hostname",
)
"""Layers of EC2's network, from the widest, in the labels that the cloud provider sets on nodes of supported types
(kubernetes/cloud-provider-aws, pkg/providers/v1/topology.go; EC2 User Guide, "Amazon EC2 topology"), and the node."""


def topology(spec: PoolSpec) -> dict[str, Any]:
    """The Topology of a pool: the levels at which a job can request to be placed together."""
    levels = [{"nodeLabel": label} for label in LEVELS]
    return {"apiVersion": API, "kind": "Topology", "metadata": {"name": spec.name}, "spec": {"levels": levels}}
