"""Resources of a share of a pool: GPUs or vCPUs, and everything that belongs to them.

A share is counted in the scarce resource, whole GPUs or vCPUs. The rest follows from the machines: how the GPUs are
partitioned or shared, and the CPU, memory and network adapters that belong to each of them. So no team can use up the
CPU of a GPU node and leave its GPUs unusable, and no quota changes when a pool is partitioned differently.

CPU and memory are what is allocatable to pods, without the node's own agents (`spec.pools.allocatable`). In a pool with
types of several sizes, the part of the largest counts: the scarce resource is the limit already, and a job that fills
the largest machine must be able to run.
"""

from collections.abc import Mapping

from spec.catalog import instances
from spec.pools.allocatable import allocatable
from spec.pools.pool_spec import PoolSpec
from spec.quantities import CPU, MEMORY, Amounts, total
from spec.settings.pools import Role
from spec.settings.teams import Team


def shareable(spec: PoolSpec) -> bool:
    """Whether teams can have shares of a pool; the system pool is for controllers."""
    return spec.role is not Role.SYSTEM


def resources_of(spec: PoolSpec) -> tuple[str, ...]:
    """Names of the resources that a pool offers to teams: CPU and memory first."""
    return (CPU, MEMORY, *spec.resources)


def amounts(spec: PoolSpec, share: int) -> dict[str, int]:
    """Resources of a share of a pool.

    Args:
        share: Whole GPUs of a GPU pool, vCPUs of a CPU pool.
    """
    node_resources = {CPU: 0, MEMORY: 0}
    for node in allocatable(spec):
        units = spec.gpu_count or instances.get(node.instance_type).vcpus
        node_resources[CPU] = max(node_resources[CPU], share * node.cpu_millis // units)
        node_resources[MEMORY] = max(node_resources[MEMORY], share * node.memory_mib // units)
    # Rounded up: with four adapters for eight GPUs, a share of one GPU may still use one.
    devices = {resource: -(-share * count // (spec.gpu_count or 1)) for resource, count in spec.resources.items()}
    return {**node_resources, **devices}


def maximum(team: Team, pools: Mapping[str, PoolSpec]) -> dict[str, int]:
    """Maximum resources of a team at once, on all pools together, including what it may borrow."""
    return total(amounts(pools[pool], share.maximum) for pool, share in team.shares.items())


def largest_node(team: Team, pools: Mapping[str, PoolSpec]) -> Amounts:
    """CPU and memory of the largest node that a team may use: no container can have more."""
    nodes = [node for pool in team.shares for node in allocatable(pools[pool])]
    return {CPU: max(node.cpu_millis for node in nodes), MEMORY: max(node.memory_mib for node in nodes)}
