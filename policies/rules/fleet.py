"""Nodes of all pools together: IP addresses and node repair."""

from collections.abc import Iterator
from math import ceil
from typing import Final

from policies.checks.pools import facts, gpus_of, node_pools
from policies.checks.related import network, releases_of
from policies.evaluation.iam import parsed
from policies.resources.access import Node
from policies.resources.resource import Resource, Stack
from policies.resources.tokens import ADDON, KARPENTER_POOL, MANAGED_POOL, NODE_GROUP, NODE_POOL, RELEASE, SUBNET
from policies.rule import Context, StackRule, Violation, setting, violation
from spec.catalog import instances
from spec.subnets import AWS_RESERVED

_CNI_TAG: Final = "kubernetes.io/role/cni"
_NODE_TAG: Final = "karpenter.sh/discovery"
PREFIX: Final = 16
"""Addresses of the /28 prefix that an interface gets at once (EKS User Guide, "Assign IP addresses with prefixes")."""


def _cni(stack: Stack) -> Node | None:
    for addon in stack.of(ADDON):
        if addon["addonName"].raw == "vpc-cni":
            return parsed(addon["configurationValues"])
    return None


def _pod_addresses(pool: Node, *, prefixes: bool) -> int:
    """Addresses that a full node of a pool needs for its pods, including one warm prefix or address."""
    pods = int(pool["maxPods"].number() or 0)
    return (ceil(pods / PREFIX) + 1) * PREFIX if prefixes else pods + 1


def _addresses(stack: Stack, *tags: str) -> dict[str, int]:
    """Usable addresses by zone, of subnets that have one of the tags with a value that admits pods or nodes."""
    usable: dict[str, int] = {}
    for subnet in stack.of(SUBNET):
        values = subnet["tags"]
        zone, cidr = subnet["availabilityZone"].text(), network(subnet["cidrBlock"])
        if zone and cidr and any(values[tag].known and values[tag].raw != "0" for tag in tags):
            usable[zone] = usable.get(zone, 0) + cidr.num_addresses - AWS_RESERVED
    return usable


def _undecided(subnet: Resource) -> bool:
    places = [subnet[key] for key in ("availabilityZone", "cidrBlock")]
    return any(place.unknown for place in [*places, *(subnet["tags"][tag] for tag in (_CNI_TAG, _NODE_TAG))])


def _exhausted(stack: Stack, context: Context) -> Iterator[Violation]:
    cni = _cni(stack)
    if any(_undecided(subnet) for subnet in stack.of(SUBNET)):
        return
    prefixes = cni is not None and cni["env"]["ENABLE_PREFIX_DELEGATION"].raw == "true"
    nodes_in, pods_in = _addresses(stack, _NODE_TAG), _addresses(stack, _CNI_TAG)
    need: dict[str, list[int]] = {}
    for _component, pool in facts(stack):
        zones = [str(zone.raw) for zone in pool["zones"].items() if zone.known]
        share = ceil((pool["max"].number() or 0) / len(zones)) if zones else 0
        for zone in zones:
            wanted = need.setdefault(zone, [int(context.settings["spare"]), 0])
            wanted[0] += share
            wanted[1] += share * _pod_addresses(pool, prefixes=prefixes)
    for zone, (nodes, pods) in sorted(need.items()):
        together = zone not in pods_in
        if zone in nodes_in and nodes + (pods if together else 0) > nodes_in[zone]:
            yield _too_small(stack, zone, nodes + (pods if together else 0), nodes_in[zone], "nodes")
        if zone in pods_in and pods > pods_in[zone]:
            yield _too_small(stack, zone, pods, pods_in[zone], "pods")


def _too_small(stack: Stack, zone: str, wanted: int, there: int, what: str) -> Violation:
    at = next(subnet for subnet in stack.of(SUBNET) if subnet["availabilityZone"].raw == zone)
    return Violation(
        path="cidrBlock",
        got=f"{there} addresses for {what} in {zone}, while pools at their maximum need {wanted}",
        at=at,
    )


def _beyond_interfaces(stack: Stack, _: Context) -> Iterator[Violation]:
    cni = _cni(stack)
    if cni is None or not cni["env"]["ENABLE_PREFIX_DELEGATION"].is_not("true"):
        return
    for component, pool in facts(stack):
        kinds = [instances.find(str(kind.raw)) for kind in pool["instanceTypes"].items()]
        limit = min((kind.max_pods for kind in kinds if kind), default=None)
        if limit is not None and (pool["maxPods"].number() or 0) > limit:
            yield violation(
                pool["maxPods"], f"{pool['maxPods'].shown}, and interfaces have addresses for {limit}", component
            )


IP_HEADROOM = StackRule(
    name="subnet-ip-headroom",
    types=(SUBNET, ADDON, MANAGED_POOL, KARPENTER_POOL),
    settings={"spare": setting("addresses per zone that an upgrade of the control plane needs", 5, minimum=0)},
    finds={
        "headroom": _exhausted,
        "prefixes": _beyond_interfaces,
    },
)


def _unrepaired(stack: Stack, _: Context) -> Iterator[Violation]:
    for group in stack.of(NODE_GROUP):
        switch = group["nodeRepairConfig"]["enabled"]
        if gpus_of(group) and switch.is_false(default=False):
            yield violation(switch, at=group)


def _karpenter_repair_off(stack: Stack, _: Context) -> Iterator[Violation]:
    if not any(gpus_of(pool) for pool in stack.of(NODE_POOL)):
        return
    for release in releases_of(stack, "karpenter"):
        gate = release["values"].at("settings", "featureGates", "nodeRepair")
        if gate.is_false(default=False):
            yield violation(gate, at=release)


def _unmonitored(stack: Stack, context: Context) -> Iterator[Violation]:
    names = [addon["addonName"] for addon in stack.of(ADDON)]
    # A preview looks for the add-on in a cluster that exists.
    if context.existing or any(name.unknown or name.raw == "eks-node-monitoring-agent" for name in names):
        return
    for pool in node_pools(stack):
        if gpus_of(pool):
            yield Violation(path="", got="unmonitored: the add-on eks-node-monitoring-agent is missing", at=pool)


GPU_NODE_REPAIR = StackRule(
    name="gpu-node-repair",
    types=(NODE_GROUP, NODE_POOL, ADDON, RELEASE),
    finds={
        "group": _unrepaired,
        "karpenter": _karpenter_repair_off,
        "agent": _unmonitored,
    },
)
