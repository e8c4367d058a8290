"""Recording rules: common names for metrics of several sources, precomputed expensive expressions, and the hourly cost
of nodes, pods and teams.

The cost of a node comes from OpenCost if it is enabled, otherwise it is the on-demand price of the catalog; Kubecost v3
stores its data in S3 and exports no metrics to Prometheus. A pod's cost is the share of its node that it requests: on a
GPU node its share of the GPUs, elsewhere the mean of its shares of CPU and memory. What no pod requests is shown as
idle cost.

Alerts and dashboards read these, so that a label which a source renames is changed in one place. Metrics and labels:
kube-state-metrics v2 (docs/metrics/, labels in snake case), cAdvisor (kubelet), DCGM exporter 4.8.2
(etc/default-counters.csv), the EFA exporter of `components.observability.efa`; read 2026-11.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from components.observability.promql import NAMESPACE_TEAM, NODE, POD_JOB, of_team, relabelled, renamed
from spec.catalog import prices
from spec.pools.pool_spec import PoolSpec

LIST_PRICE: Final = "slipway:instance:usd_per_hour"
"""On-demand price of an instance type, from the catalog: `instance_type`."""
NODE_COST: Final = "slipway:node:usd_per_hour"  # `node`, `pool`, `instance_type`, `capacity_type`
POD_SHARE: Final = "slipway:pod:node_share"  # share of its node that a pod requests: `namespace`, `pod`, `node`
POD_COST: Final = "slipway:pod:usd_per_hour"
"""`namespace`, `pod`, `node`, `team`, `project`; pods without a team don't have the last two."""
TEAM_COST: Final = "slipway:team:usd_per_hour"  # `team`
TEAM_BUDGET: Final = "slipway:team:budget_usd"  # monthly budget, from the stack: `team`
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


GPU_ACTIVE: Final = "slipway:gpu:active"
"""Utilization of a GPU or MIG instance, 0 to 1: `node`, `UUID`, `GPU_I_ID`; `namespace` and `pod` if a pod has it."""
GPU_XID: Final = "slipway:gpu:xid"  # last Xid of a GPU; the same labels
GPU_MEMORY: Final = "slipway:gpu:memory_ratio"  # share of a GPU's memory in use; the same labels
GPU_LABELS: Final = ("node", "UUID", "GPU_I_ID", "namespace", "pod")
EFA_RATIO: Final = "slipway:node_efa:ratio"
"""Bytes that a node's adapters receive, as a share of its instance type's bandwidth: `node`."""
CPU_CORES: Final = "slipway:container:cpu_cores"
"""CPU that a container uses, over five minutes: `namespace`, `pod`, `container`."""
NETWORK_BYTES: Final = "slipway:instance_network:bytes_per_second"
"""Network bandwidth of an instance type, from the catalog: `instance_type`."""
GPU_RESOURCES: Final = 'resource=~"nvidia_com_(gpu|mig_.+)"'
"""Matcher of GPUs and MIG instances, in kube-state-metrics' spelling; a shared GPU counts once per share."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """One recording rule."""

    name: str  # name of the series
    expression: str  # PromQL expression
    labels: Mapping[str, str]  # labels that it adds

    @property
    def rule(self) -> dict[str, Any]:
        """The rule in Prometheus' format."""
        rule: dict[str, Any] = {"record": self.name, "expr": self.expression}
        return {**rule, "labels": dict(sorted(self.labels.items()))} if self.labels else rule


def record(name: str, expression: str, **labels: str) -> Record:
    """Short form of `Record`."""
    return Record(name=name, expression=expression, labels=labels)


def constants(name: str, values: Mapping[str, Decimal | int], label: str) -> list[Record]:
    """A fact of the catalog or the stack as series, one per value of a label."""
    return [record(name, f"vector({value})", **{label: key}) for key, value in sorted(values.items())]


def names() -> list[Record]:
    """Mappings: team of a namespace, job of a pod, pool of a node."""
    teams = renamed(
        'kube_namespace_labels{label_platform_slipway_team!=""}',
        team="label_platform_slipway_team",
        project="label_platform_slipway_project",
    )
    jobs = renamed('kube_pod_labels{label_platform_slipway_job!=""}', workload="label_platform_slipway_job")
    eks = "label_eks_amazonaws_com_capacity_type"
    nodes = relabelled(
        renamed(
            "kube_node_labels",
            pool="label_platform_slipway_pool",
            instance_type="label_node_kubernetes_io_instance_type",
            capacity_type="label_karpenter_sh_capacity_type",
        ),
        # EKS uses the same values in upper case (EKS User Guide, "Managed node group capacity types").
        ("capacity_type", "spot", eks, "SPOT"),
        ("capacity_type", "on-demand", eks, "ON_DEMAND"),
        ("capacity_type", "reserved", eks, "CAPACITY_BLOCK"),
    )
    return [
        record(NAMESPACE_TEAM, f"max by (namespace, team, project) ({teams})"),
        record(POD_JOB, f"max by (namespace, pod, workload) ({jobs})"),
        record(NODE, f"max by (node, pool, instance_type, capacity_type) ({nodes})"),
    ]


def _gpu(expression: str) -> str:
    """GPU series with common labels, independent of the labels of exporter and monitor.

    The node's label is `Hostname` up to 4.8.2 and `hostname` after; a monitor that doesn't honor the exporter's labels
    prefixes those of the pod with `exported_`. A GPU that no pod has gets those of the exporter's own pod, from
    Prometheus: they say nothing of the GPU.
    """
    exporter = ("container", "nvidia-dcgm-exporter")
    named = relabelled(
        expression,
        ("node", "$1", "Hostname", "(.+)"),
        ("node", "$1", "hostname", "(.+)"),
        ("namespace", "", *exporter),
        ("pod", "", *exporter),
        ("namespace", "$1", "exported_namespace", "(.+)"),
        ("pod", "$1", "exported_pod", "(.+)"),
    )
    return f"max by ({', '.join(GPU_LABELS)}) ({named})"


def gpus() -> list[Record]:
    """GPUs and MIG instances. `DCGM_FI_DEV_GPU_UTIL` isn't measured on MIG instances, but the profiling counter is."""
    used, free = _gpu("DCGM_FI_DEV_FB_USED"), _gpu("DCGM_FI_DEV_FB_FREE")
    return [
        record(GPU_ACTIVE, _gpu("DCGM_FI_PROF_GR_ENGINE_ACTIVE")),
        record(GPU_XID, _gpu("DCGM_FI_DEV_XID_ERRORS")),
        record(GPU_MEMORY, f"{used} / ({used} + {free})"),
    ]


def network(pools: Iterable[PoolSpec]) -> list[Record]:
    """Utilization of the adapters of EFA nodes; empty if no pool has any."""
    types = {kind.name: kind for pool in pools if pool.efa_count for kind in pool.instance_types}
    if not types:
        return []
    capacity = {name: kind.network_mbps * 1_000_000 // 8 for name, kind in types.items()}
    received = "sum by (node) (rate(node_amazonefa_rx_bytes[5m]))"
    node = f"{NODE} * on (instance_type) group_left () {NETWORK_BYTES}"
    return [
        *constants(NETWORK_BYTES, capacity, "instance_type"),
        record(EFA_RATIO, f"{received} / on (node) max by (node) ({node})"),
    ]


def use() -> list[Record]:
    """CPU usage of containers, for right-sizing."""
    used = 'rate(container_cpu_usage_seconds_total{container!="", image!=""}[5m])'
    return [record(CPU_CORES, f"sum by (namespace, pod, container) ({used})")]


def gpus_of_teams() -> list[Record]:
    """GPUs allocated to each team, and their utilization."""
    by = "sum by (team)"
    return [
        record("slipway:team:gpus_active", f"{by} ({of_team(GPU_ACTIVE)})"),
        record("slipway:team:gpus_held", f"{by} ({of_team(f'{GPU_ACTIVE} * 0 + 1')})"),
    ]
