"""A pool of nodes as rules see it, whether it is an EKS node group, a Karpenter NodePool, or a component's own word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from policies.access import Node
from policies.resource import Resource, Stack
from policies.tokens import NODE_GROUP, NODE_POOL, POOLS
from spec.catalog import instances
from spec.catalog.instances import InstanceType
from spec.pools.keys import GPU

TYPE: Final = "node.kubernetes.io/instance-type"
ZONE: Final = "topology.kubernetes.io/zone"
CAPACITY: Final = "karpenter.sh/capacity-type"


def requirement(pool: Resource, key: str) -> Node:
    """Values that a NodePool requires of a label; missing where it requires nothing of it."""
    requirements = pool["spec"].at("template", "spec", "requirements")
    for entry in requirements.items():
        if entry.known and entry["key"].raw == key and entry["operator"].raw == "In":
            return entry["values"]
    return Node(f"{requirements.path}[{key}]", requirements.raw if requirements.unknown else None)


def type_names(pool: Resource) -> Node:
    """Instance types of a node group or NodePool."""
    return pool["instanceTypes"] if pool.type == NODE_GROUP else requirement(pool, TYPE)


def machines(pool: Resource) -> Iterator[tuple[Node, InstanceType | None]]:
    """Known instance types of a pool, each with what the catalog knows of it."""
    for node in type_names(pool).items():
        name = node.text()
        if name is not None:
            yield node, instances.find(name)


def gpus_of(pool: Resource) -> bool:
    """Whether a node group or NodePool certainly has GPUs: by its types, else by its image or its labels."""
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
    """Where its machines come from: EKS's `capacityType`, or Karpenter's list of capacity types."""
    return pool["capacityType"] if pool.type == NODE_GROUP else requirement(pool, CAPACITY)


def spot(pool: Resource) -> bool:
    """Whether its machines certainly may be Spot. Karpenter takes on-demand alone unless told otherwise."""
    if pool.type == NODE_GROUP:
        return bool(market(pool).raw == "SPOT")
    return any(entry.raw == "spot" for entry in market(pool).items())


def facts(stack: Stack) -> list[tuple[Resource, Node]]:
    """What the pools' components say of themselves: plain values that no preview hides."""
    found = [(component, component["pool"]) for component in stack.of(*POOLS)]
    return [(component, pool) for component, pool in found if pool.known]


def names(stack: Stack) -> list[Node]:
    """Names of the pools, an unknown one for each whose facts are unknown."""
    return [component["pool"]["name"] for component in stack.of(*POOLS)]


def node_pools(stack: Stack) -> list[Resource]:
    """Node groups and NodePools of a stack."""
    return stack.of(NODE_GROUP, NODE_POOL)


def children(stack: Stack, component: Resource, token: str) -> list[Resource]:
    """Resources of a type that a component made: their URNs bear its type and their names begin with its."""
    return [found for found in stack.of(token) if found.name.startswith(f"{component.name}-")]
