"""Pools of nodes: EKS node groups, Karpenter NodePools, and the outputs of pool components."""

from collections.abc import Iterator
from typing import Final

from policies.resources.access import Node
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import NODE_GROUP, NODE_POOL, POOLS
from spec.catalog import instances
from spec.catalog.instances import InstanceType
from spec.pools.keys import CAPACITY_TYPE, GPU

TYPE: Final = "node.kubernetes.io/instance-type"
ZONE: Final = "topology.kubernetes.io/zone"


def requirement(pool: Resource, key: str) -> Node:
    """Values that a NodePool requires for a label; missing if it has no such requirement."""
    requirements = pool["spec"].at("template", "spec", "requirements")
    for entry in requirements.items():
        if entry.known and entry["key"].raw == key and entry["operator"].raw == "In":
            return entry["values"]
    return Node(f"{requirements.path}[{key}]", requirements.raw if requirements.unknown else None)


def type_names(pool: Resource) -> Node:
    """Instance types of a node group or NodePool."""
    return pool["instanceTypes"] if pool.type == NODE_GROUP else requirement(pool, TYPE)


def machines(pool: Resource) -> Iterator[tuple[Node, InstanceType | None]]:
    """Known instance types of a pool, with their catalog entries."""
    for node in type_names(pool).items():
        name = node.text()
        if name is not None:
            yield node, instances.find(name)


def gpus_of(pool: Resource) -> bool:
    """Whether a node group or NodePool certainly has GPUs, by its instance types, AMI type or labels."""
    if any(machine is not None and machine.gpus for _, machine in machines(pool)):
        return True
    return "NVIDIA" in str(pool["amiType"].raw) or label(pool, GPU).raw == "true"


def label(pool: Resource, key: str) -> Node:
    """A label of the pool's nodes."""
    labels = pool["labels"] if pool.type == NODE_GROUP else pool["spec"].at("template", "metadata", "labels")
    return labels[key]


def taints(pool: Resource) -> Node:
    """Taints of the pool's nodes."""
    return pool["taints"] if pool.type == NODE_GROUP else pool["spec"].at("template", "spec", "taints")


def market(pool: Resource) -> Node:
    """Its capacity type: `capacityType` of EKS, or Karpenter's list of capacity types."""
    return pool["capacityType"] if pool.type == NODE_GROUP else requirement(pool, CAPACITY_TYPE)


def spot(pool: Resource) -> bool:
    """Whether it certainly may use Spot. Karpenter's default is on-demand."""
    if pool.type == NODE_GROUP:
        return bool(market(pool).raw == "SPOT")
    return any(entry.raw == "spot" for entry in market(pool).items())


def facts(stack: Stack) -> list[tuple[Resource, Node]]:
    """The pool components with their output `pool`, whose values a preview knows."""
    pools = [(component, component["pool"]) for component in stack.of(*POOLS)]
    return [(component, pool) for component, pool in pools if pool.known]


def names(stack: Stack) -> list[Node]:
    """Names of the pools; unknown for pools whose output is unknown."""
    return [component["pool"]["name"] for component in stack.of(*POOLS)]


def node_pools(stack: Stack) -> list[Resource]:
    """Node groups and NodePools of a stack."""
    return stack.of(NODE_GROUP, NODE_POOL)


def children(stack: Stack, component: Resource, token: str) -> list[Resource]:
    """Resources of a type that belong to a component: their names begin with the component's name."""
    return [child for child in stack.of(token) if child.name.startswith(f"{component.name}-")]
