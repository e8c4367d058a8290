"""What nodes, pods and teams cost by the hour, as recording rules.

A node costs what OpenCost says of it where OpenCost is on, else the on-demand price of the catalog; Kubecost v3 keeps
its figures in S3 and gives Prometheus none. A pod bears the share of its node that it asks for: on a GPU node its share
of the GPUs, elsewhere the mean of its shares of CPU and memory. What no pod asks for is idle, and is shown as such.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Final

from components.observability.promql import NAMESPACE_TEAM, NODE
from components.observability.recording import GPU_RESOURCES, Record, constants, record
from spec.catalog import prices
from spec.pools.pool_spec import PoolSpec

LIST_PRICE: Final = "slipway:instance:usd_per_hour"
"""On-demand price of an instance type, from the catalog: `instance_type`."""
NODE_COST: Final = "slipway:node:usd_per_hour"
"""`node`, `pool`, `instance_type`, `capacity_type`."""
POD_SHARE: Final = "slipway:pod:node_share"
"""Share of its node that a pod asks for: `namespace`, `pod`, `node`."""
POD_COST: Final = "slipway:pod:usd_per_hour"
"""`namespace`, `pod`, `node`, `team`, `project`; pods of no team have neither of the last two."""
TEAM_COST: Final = "slipway:team:usd_per_hour"
"""`team`."""
TEAM_BUDGET: Final = "slipway:team:budget_usd"
"""Budget of a month, from the stack: `team`."""
_POD: Final = "namespace, pod, node"


def list_prices(pools: Iterable[PoolSpec]) -> dict[str, Decimal]:
    """On-demand prices by instance type; a type without a price in the catalog is left out, never free."""
    types = {kind.name: kind.usd_per_hour for pool in pools for kind in pool.instance_types}
    return {name: price for name, price in types.items() if price is not None}


def nodes(pools: Iterable[PoolSpec], *, opencost: bool) -> list[Record]:
    """Cost of each node. Spot counts with the smallest saving that its source tells, so as not to flatter."""
    if opencost:
        measured = "max by (node) (node_total_hourly_cost)"
        return [record(NODE_COST, f"{NODE} * on (node) group_left () {measured}")]
    priced = f"{NODE} * on (instance_type) group_left () {LIST_PRICE}"
    spot = f'{priced} and on (node) {NODE}{{capacity_type="spot"}}'
    return [
        *constants(LIST_PRICE, list_prices(pools), "instance_type"),
        record(NODE_COST, f"({spot}) * {1 - prices.SPOT.low} or {priced}"),
    ]


def _requested(resource: str) -> str:
    """What pods that are not over ask for, by node."""
    requested = f'sum by ({_POD}) (kube_pod_container_resource_requests{{{resource}, node!=""}})'
    alive = 'max by (namespace, pod) (kube_pod_status_phase{phase=~"Pending|Running"} == 1)'
    return f"{requested} and on (namespace, pod) {alive}"


def _allocatable(resource: str) -> str:
    return f"sum by (node) (kube_node_status_allocatable{{{resource}}})"


def _share(resource: str) -> str:
    return f"({_requested(resource)}) / on (node) group_left () ({_allocatable(resource)} > 0)"


def pods() -> list[Record]:
    """Shares and costs of pods, and the sums of teams."""
    cpu, memory = _share('resource="cpu"'), _share('resource="memory"')
    gpu, has_gpu = _share(GPU_RESOURCES), f"({_allocatable(GPU_RESOURCES)} > 0)"
    # A pod may ask for CPU alone or memory alone: what it does not ask for is nothing of it.
    both = f"(({cpu}) or on ({_POD}) ({memory}) * 0) + on ({_POD}) (({memory}) or on ({_POD}) ({cpu}) * 0)"
    cost = f"{POD_SHARE} * on (node) group_left () max by (node) ({NODE_COST})"
    owned = f"({cost}) * on (namespace) group_left (team, project) {NAMESPACE_TEAM}"
    return [
        record(POD_SHARE, f"{gpu} or on ({_POD}) (({both}) / 2 unless on (node) {has_gpu})"),
        record(POD_COST, f"{owned} or on ({_POD}) ({cost})"),
        record(TEAM_COST, f'sum by (team) ({POD_COST}{{team!=""}})'),
    ]


def budgets(teams: Mapping[str, int]) -> list[Record]:
    """Budgets of teams, in USD a month."""
    return constants(TEAM_BUDGET, teams, "team")
