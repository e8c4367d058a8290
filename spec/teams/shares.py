"""What a share of a pool is in resources: GPUs or vCPUs, and all that belongs to them.

A share is counted in what is scarce, whole GPUs or vCPUs. The rest follows from the machines: how the GPUs are cut or
sliced, and the processors, memory and network adapters that come with each of them. So no team can hold the processors
of a GPU node and leave its GPUs to nobody, and no quota has to be changed when a pool is cut in another way.

Processors and memory are those that pods can have, without what the node's own agents take (`spec.pools.allocatable`).
Where a pool has types of several sizes, the part of the largest counts: what is scarce bounds already, and a job that
fills the largest machine must be able to run.
"""

from __future__ import annotations

from collections.abc import Mapping

from spec.catalog import instances
from spec.pools.allocatable import allocatable
from spec.pools.pool_spec import PoolSpec
from spec.quantities import CPU, MEMORY, Amounts, total
from spec.settings.pools import Role
from spec.settings.teams import Team


def shareable(spec: PoolSpec) -> bool:
    """Whether a pool is for teams; the system pool is for controllers."""
    return spec.role is not Role.SYSTEM


def resources_of(spec: PoolSpec) -> tuple[str, ...]:
    """Names of the resources that a pool offers to teams: processors and memory first."""
    return (CPU, MEMORY, *spec.resources)


def amounts(spec: PoolSpec, share: int) -> dict[str, int]:
    """What a share of a pool comes to.

    Args:
        spec: The pool.
        share: Whole GPUs of a GPU pool, vCPUs of a CPU pool.
    """
    found = {CPU: 0, MEMORY: 0}
    for node in allocatable(spec):
        units = spec.gpu_count or instances.get(node.instance_type).vcpus
        found[CPU] = max(found[CPU], share * node.cpu_millis // units)
        found[MEMORY] = max(found[MEMORY], share * node.memory_mib // units)
    # Rounded up: with four adapters for eight GPUs, a share of one GPU may still use one.
    devices = {resource: -(-share * count // (spec.gpu_count or 1)) for resource, count in spec.resources.items()}
    return {**found, **devices}


def maximum(team: Team, pools: Mapping[str, PoolSpec]) -> dict[str, int]:
    """What a team may hold at once, on all pools together, with what it may borrow."""
    return total(amounts(pools[pool], share.maximum) for pool, share in team.shares.items())


def largest_node(team: Team, pools: Mapping[str, PoolSpec]) -> Amounts:
    """Processors and memory of the largest node that a team may use: no container can have more."""
    found = [node for pool in team.shares for node in allocatable(pools[pool])]
    return {CPU: max(node.cpu_millis for node in found), MEMORY: max(node.memory_mib for node in found)}
