"""Recording rules for the hourly cost of nodes, pods and teams.

The cost of a node comes from OpenCost if it is enabled, otherwise it is the on-demand price of the catalog; Kubecost v3
stores its data in S3 and exports no metrics to Prometheus. A pod's cost is the share of its node that it requests: on a
GPU node its share of the GPUs, elsewhere the mean of its shares of CPU and memory. What no pod requests is shown as
idle cost.
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
"""Share of its node that a pod requests: `namespace`, `pod`, `node`."""
POD_COST: Final = "slipway:pod:usd_per_hour"
"""`namespace`, `pod`, `node`, `team`, `project`; pods without a team don't have the last two."""
TEAM_COST: Final = "slipway:team:usd_per_hour"
"""`team`."""
TEAM_BUDGET: Final = "slipway:team:budget_usd"
"""Monthly budget, from the stack: `team`."""
_POD: Final = "namespace, pod, node"


def list_prices(pools: Iterable[PoolSpec]) -> dict[str, Decimal]:
    """On-demand prices by instance type; a type without a price in the catalog is omitted, not free."""
    types = {kind.name: kind.usd_per_hour for pool in pools for kind in pool.instance_types}
    return {name: price for name, price in types.items() if price is not None}


def nodes(pools: Iterable[PoolSpec], *, opencost: bool) -> list[Record]:
    """Cost of each node. Spot uses the smallest discount of its source, so that costs aren't underestimated."""
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
    """Requests of pods that haven't finished, by node."""
    requested = f'sum by ({_POD}) (kube_pod_container_resource_requests{{{resource}, node!=""}})'
    alive = 'max by (namespace, pod) (kube_pod_status_phase{phase=~"Pending|Running"} == 1)'
    return f"{requested} and on (namespace, pod) {alive}"


def _allocatable(resource: str) -> str:
    return f"sum by (node) (kube_node_status_allocatable{{{resource}}})"


def _share(resource: str) -> str:
    return f"({_requested(resource)}) / on (node) group_left () ({_allocatable(resource)} > 0)"


def pods() -> list[Record]:
    """Shares and costs of pods, and the sums per team."""
    cpu, memory = _share('resource="cpu"'), _share('resource="memory"')
    gpu, has_gpu = _share(GPU_RESOURCES), f"({_allocatable(GPU_RESOURCES)} > 0)"
    # A pod may request only CPU or only memory: the missing share counts as zero.
    both = f"(({cpu}) or on ({_POD}) ({memory}) * 0) + on ({_POD}) (({memory}) or on ({_POD}) ({cpu}) * 0)"
    cost = f"{POD_SHARE} * on (node) group_left () max by (node) ({NODE_COST})"
    owned = f"({cost}) * on (namespace) group_left (team, project) {NAMESPACE_TEAM}"
    return [
        record(POD_SHARE, f"{gpu} or on ({_POD}) (({both}) / 2 unless on (node) {has_gpu})"),
        record(POD_COST, f"{owned} or on ({_POD}) ({cost})"),
        record(TEAM_COST, f'sum by (team) ({POD_COST}{{team!=""}})'),
    ]


def budgets(teams: Mapping[str, int]) -> list[Record]:
    """Budgets of teams, in USD per month."""
    return constants(TEAM_BUDGET, teams, "team")
