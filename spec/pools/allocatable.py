"""How much of a node is left for the pods of users: what a pod that is to start on it may ask for at most.

Capacity is not what pods get. The hypervisor and the kernel, kube-reserved and the eviction threshold come off first
(`InstanceType.allocatable_*`: the formula of nodeadm on AL2023 and of Karpenter alike), then the DaemonSets that run on
every node. A pod that asks for a whole node's nominal size waits for ever, and nobody says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from spec.catalog.instances import InstanceType
from spec.pools.pool_spec import PoolSpec

DAEMON_CPU_MILLIS: Final = 500
DAEMON_MEMORY_MIB: Final = 1024
"""Kept for DaemonSets. What those of a GPU node request by default comes to some 350m and 700 MiB: VPC CNI, kube-proxy,
CSI drivers, Pod Identity and monitoring agents, node exporter, and the GPU Operator's (charts as pinned, 2026-11)."""

HUGEPAGES: Final = "hugepages-2Mi"
"""Resource of 2 MiB pages. Nodes with EFA have some; how many the EFA software sets aside for the machine's cores, only
the node knows. They are part of its memory."""


@dataclass(frozen=True, kw_only=True)
class Allocatable:
    """What pods of users may request on one node.

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
    """The rooms of which a pod must fit into one.

    Karpenter chooses the type by the pod, so any of the pool's types will do. A managed group gets whatever type EC2
    has, so only the smallest counts.
    """
    found = tuple(_allocatable(spec, kind) for kind in spec.instance_types)
    return (_smallest(found),) if spec.managed else found


def _allocatable(spec: PoolSpec, kind: InstanceType) -> Allocatable:
    return Allocatable(
        instance_type=kind.name,
        cpu_millis=kind.allocatable_cpu_millis - DAEMON_CPU_MILLIS,
        memory_mib=kind.allocatable_memory_at(spec.settings.max_pods) - DAEMON_MEMORY_MIB,
        devices=spec.resources,
    )


def _smallest(found: tuple[Allocatable, ...]) -> Allocatable:
    minimum = min(found, key=lambda node: (node.memory_mib, node.cpu_millis))
    return Allocatable(
        instance_type=minimum.instance_type,
        cpu_millis=min(node.cpu_millis for node in found),
        memory_mib=minimum.memory_mib,
        devices=minimum.devices,
    )
