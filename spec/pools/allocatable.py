"""Allocatable resources of a node: the most that a user's pod can request to start on it.

They are less than the capacity: without the hypervisor and the kernel, kube-reserved and the eviction threshold
(`InstanceType.allocatable_*`: the formula of both nodeadm on AL2023 and Karpenter), and without the DaemonSets that run
on every node. A pod that requests a node's whole nominal size stays Pending without an explanation.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from spec.catalog.instances import InstanceType
from spec.pools.pool_spec import PoolSpec

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
    """Resources that users' pods can request on one node.

    Attributes:
        instance_type: The machine.
        cpu_millis: Thousandths of a vCPU.
        memory_mib: Memory, huge pages included.
        devices: Extended resources, by name.
    """

    instance_type: str
    cpu_millis: int
    memory_mib: int
    devices: Mapping[str, int]


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
