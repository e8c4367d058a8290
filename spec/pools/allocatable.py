"""Allocatable resources of a node: the most that a user's pod can request to start on it.

They are less than the capacity: without the hypervisor and the kernel, kube-reserved and the eviction threshold
(`InstanceType.allocatable_*`: the formula of both nodeadm on AL2023 and Karpenter), and without the DaemonSets that run
on every node. A pod that requests a node's whole nominal size stays Pending without an explanation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from spec.catalog.instances import InstanceType
from spec.pools.pool_spec import PoolSpec
from spec.quantities import CPU, MEMORY, MI

DAEMON_CPU_MILLIS: Final = 500
DAEMON_MEMORY_MIB: Final = 1024
"""Reserved for DaemonSets. Those of a GPU node request about 350m and 700 MiB by default: VPC CNI, kube-proxy,
CSI drivers, Pod Identity and monitoring agents, node exporter, and the GPU Operator's (charts as pinned, 2026-11)."""

HUGEPAGES: Final = "hugepages-2Mi"
"""Resource of 2 MiB pages. Nodes with EFA have some; how many the EFA software reserves for the machine's cores is
only known on the node. They are part of its memory."""
EFA_HUGEPAGES_MIB: Final = 5120
"""Huge pages of a pod with EFA, in MiB: libfabric allocates its buffers in them (EKS User Guide, "Run machine learning
training on Amazon EKS with Elastic Fabric Adapter", the example for p5.48xlarge; 2026-08)."""


@dataclass(frozen=True, kw_only=True)
class Allocatable:
    """Resources that users' pods can request on one node."""

    instance_type: str  # the machine
    cpu_millis: int  # thousandths of a vCPU
    memory_mib: int  # memory, huge pages included
    devices: Mapping[str, int]  # extended resources, by name

    @property
    def amounts(self) -> dict[str, Decimal]:
        """What it offers, in the units of requests: vCPUs, bytes, devices."""
        devices = {name: Decimal(count) for name, count in self.devices.items()}
        return {**devices, CPU: Decimal(self.cpu_millis) / 1000, MEMORY: Decimal(self.memory_mib) * MI}


Amounts = Mapping[str, Decimal]
WHOLE: Final = "node"  # a resource of which each node has one: what requests it shares its node with nothing that does
_PODS: Final = 110


def fitting(has: Amounts, wanted: Amounts) -> int:
    """Number of pods with these requests for which the amounts suffice; the kubelet's default of 110, if they request
    none of them."""
    return max(0, int(min((has[name] // amount for name, amount in wanted.items() if name in has), default=_PODS)))


def nodes_of(room: Allocatable, groups: Sequence[tuple[Amounts, int]]) -> int:
    """Number of empty nodes that hold groups of pods at the same time, the large pods placed first.

    Args:
        room: The node. A pod that is too large for it gets one alone.
        groups: Requests and number of the pods of each group.
    """
    has, nodes = {**room.amounts, WHOLE: Decimal(1)}, list[tuple[Amounts, int]]()
    for wanted, count in sorted(groups, key=lambda group: fitting(has, group[0])):
        left, placed = count, list[tuple[Amounts, int]]()
        for free, there in [*nodes, (has, count)]:
            each = fitting(free, wanted) or int(free is has)
            full = min(there, left // each) if each else 0
            rest = left - full * each if each and full < there else 0
            left -= full * each + rest
            placed += [(_less(free, wanted, each), full), (_less(free, wanted, rest), min(rest, 1))]
            placed += [] if free is has else [(free, there - full - min(rest, 1))]
        nodes = [one for one in placed if one[1]]
    return sum(many for _, many in nodes)


def _less(free: Amounts, wanted: Amounts, pods: int) -> Amounts:
    return {name: amount - wanted.get(name, 0) * pods for name, amount in free.items()}


def allocatable(spec: PoolSpec) -> tuple[Allocatable, ...]:
    """Allocatable resources by node type; a pod must fit into one of them.

    Karpenter chooses the type by the pod, so the pod may fit any of the pool's types. A managed group gets whatever
    type EC2 has available, so only the smallest counts.
    """
    nodes = tuple(_allocatable(spec, kind) for kind in spec.instance_types)
    return (_smallest(nodes),) if spec.managed else nodes


def _allocatable(spec: PoolSpec, kind: InstanceType) -> Allocatable:
    return Allocatable(
        instance_type=kind.name,
        cpu_millis=kind.allocatable_cpu_millis - DAEMON_CPU_MILLIS,
        memory_mib=kind.allocatable_memory_at(spec.settings.max_pods) - DAEMON_MEMORY_MIB,
        devices=spec.resources,
    )


def _smallest(nodes: tuple[Allocatable, ...]) -> Allocatable:
    minimum = min(nodes, key=lambda node: (node.memory_mib, node.cpu_millis))
    return Allocatable(
        instance_type=minimum.instance_type,
        cpu_millis=min(node.cpu_millis for node in nodes),
        memory_mib=minimum.memory_mib,
        devices=minimum.devices,
    )
