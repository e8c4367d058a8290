"""The nodes of all pools together: addresses for them, and somebody who replaces the broken ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import ceil
from typing import Any, Final

from pulumi_policy import Severity

from policies.access import Node
from policies.documents import parsed
from policies.fixtures import Fixture, FixtureResource, with_, without
from policies.levels import Levels
from policies.network import network
from policies.pools import facts, gpus_of, node_pools
from policies.resource import Resource, Stack
from policies.rule import Check, Context, Problem, Setting, StackRule, everywhere, problem
from policies.tokens import ADDON, KARPENTER_POOL, MANAGED_POOL, NODE_GROUP, NODE_POOL, RELEASE, SUBNET
from spec.catalog import instances

_CNI_TAG: Final = "kubernetes.io/role/cni"
_NODE_TAG: Final = "karpenter.sh/discovery"
PREFIX: Final = 16
"""Addresses of the /28 prefix that an interface gets at once (EKS User Guide, "Assign IP addresses with prefixes")."""
AWS_KEEPS: Final = 5
"""Addresses of every subnet that AWS keeps for itself (VPC User Guide, "Subnet sizing")."""


def _cni(stack: Stack) -> Node | None:
    for addon in stack.of(ADDON):
        if addon["addonName"].raw == "vpc-cni":
            return parsed(addon["configurationValues"])
    return None


def _pod_addresses(pool: Node, *, prefixes: bool) -> int:
    """Addresses that a full node of a pool takes for its pods, with one prefix or address kept warm."""
    pods = int(pool["maxPods"].number() or 0)
    return (ceil(pods / PREFIX) + 1) * PREFIX if prefixes else pods + 1


def _addresses(stack: Stack, *tags: str) -> dict[str, int]:
    """Usable addresses by zone, of subnets that bear one of the tags with a value that lets pods or nodes in."""
    found: dict[str, int] = {}
    for subnet in stack.of(SUBNET):
        given = subnet["tags"]
        zone, cidr = subnet["availabilityZone"].text(), network(subnet["cidrBlock"])
        if zone and cidr and any(given[tag].known and given[tag].raw != "0" for tag in tags):
            found[zone] = found.get(zone, 0) + cidr.num_addresses - AWS_KEEPS
    return found


def _undecided(subnet: Resource) -> bool:
    places = [subnet[key] for key in ("availabilityZone", "cidrBlock")]
    return any(place.unknown for place in [*places, *(subnet["tags"][tag] for tag in (_CNI_TAG, _NODE_TAG))])


def _address_exhaustion(stack: Stack, context: Context) -> Iterator[Problem]:
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


def _too_small(stack: Stack, zone: str, wanted: int, there: int, what: str) -> Problem:
    at = next(subnet for subnet in stack.of(SUBNET) if subnet["availabilityZone"].raw == zone)
    return Problem(path="cidrBlock", got=f"{there} addresses for {what} of {zone}, and full pools take {wanted}", at=at)


def _promised(stack: Stack, _: Context) -> Iterator[Problem]:
    cni = _cni(stack)
    if cni is None or not cni["env"]["ENABLE_PREFIX_DELEGATION"].is_not("true"):
        return
    for component, pool in facts(stack):
        kinds = [instances.find(str(kind.raw)) for kind in pool["instanceTypes"].items()]
        room = min((kind.max_pods for kind in kinds if kind), default=None)
        if room is not None and (pool["maxPods"].number() or 0) > room:
            yield problem(pool["maxPods"], f"{pool['maxPods'].shown}, and addresses are for {room}", component)


def _subnet(cidr: str, tags: dict[str, str]) -> FixtureResource:
    return FixtureResource(type=SUBNET, props={"availabilityZone": "us-east-1a", "cidrBlock": cidr, "tags": tags})


def _pool(**more: Any) -> FixtureResource:
    fields = {"zones": ["us-east-1a"], "max": 10, "maxPods": 110, "instanceTypes": ["m7i.large"], **more}
    return FixtureResource(type=KARPENTER_POOL, props={"pool": fields})


def _vpc_cni(delegation: str) -> FixtureResource:
    values = json.dumps({"env": {"ENABLE_PREFIX_DELEGATION": delegation}})
    return FixtureResource(type=ADDON, props={"addonName": "vpc-cni", "configurationValues": values})


_ROOM: Final[Fixture] = {
    "pool": _pool(),
    "wide": _pool(zones=["us-east-1a", "us-east-1b"], max=2),
    "nodes-a": _subnet("10.0.0.0/27", {_NODE_TAG: "slipway-test", _CNI_TAG: "0"}),
    "pods-a": _subnet("100.64.0.0/21", {_CNI_TAG: "1"}),
    "cni": _vpc_cni("true"),
}

IP_HEADROOM = StackRule(
    name="subnet-ip-headroom",
    title="There is an address for every pod of every pool at its largest, and for an upgrade",
    types=(SUBNET, ADDON, MANAGED_POOL, KARPENTER_POOL),
    severity=Severity.MEDIUM,
    levels=Levels("A/M/M"),
    why="Without addresses pods wait for ever, and an upgrade needs up to five (EKS Best Practices, Prefix mode).",
    fix="Take a larger network.cidr, add network.podCidr, or lower max or maxPods of pools.",
    settings={
        "spare": Setting(
            asks="addresses a zone that an upgrade of the control plane takes",
            schema={"type": "integer", "minimum": 0},
            values=everywhere(5),
        )
    },
    checks={
        "headroom": Check(
            asks="must have room for full pools",
            find=_address_exhaustion,
            bad=(
                with_(_ROOM, "nodes-a", "cidrBlock", "10.0.0.0/28"),
                with_(_ROOM, "pods-a", "cidrBlock", "100.64.0.0/22"),
                without(_ROOM, "pods-a"),
                {
                    # 1270 addresses: enough for 11 nodes without prefixes (1221), and not with them (1408).
                    **with_(_ROOM, "pods-a", "cidrBlock", "100.64.0.0/22"),
                    "more-pods-a": _subnet("100.64.8.0/24", {_CNI_TAG: "1"}),
                },
                {**_ROOM, "wide": _pool(zones=["us-east-1a", "us-east-1b"], max=60)},
            ),
        ),
        "prefixes": Check(
            asks="must be what interfaces have addresses for, or the CNI must delegate prefixes",
            find=_promised,
            bad=({**_ROOM, "cni": _vpc_cni("false")},),
        ),
    },
    good=(
        _ROOM,
        {**without(_ROOM, "pods-a"), "nodes-a": _subnet("10.0.0.0/20", {_NODE_TAG: "slipway-test"})},
        {"cni": _vpc_cni("false"), "pool": _pool(maxPods=29)},
        {"pool": _pool()},
    ),
)


def _unrepaired(stack: Stack, _: Context) -> Iterator[Problem]:
    for group in stack.of(NODE_GROUP):
        switch = group["nodeRepairConfig"]["enabled"]
        if gpus_of(group) and switch.is_false(default=False):
            yield problem(switch, at=group)


def _karpenter_blind(stack: Stack, _: Context) -> Iterator[Problem]:
    if not any(gpus_of(pool) for pool in stack.of(NODE_POOL)):
        return
    for release in stack.of(RELEASE):
        gate = release["values"].at("settings", "featureGates", "nodeRepair")
        if str(release["chart"].raw).endswith("karpenter/karpenter") and gate.is_false(default=False):
            yield problem(gate, at=release)


def _unwatched(stack: Stack, _: Context) -> Iterator[Problem]:
    names = [addon["addonName"] for addon in stack.of(ADDON)]
    if any(name.unknown or name.raw == "eks-node-monitoring-agent" for name in names):
        return
    for pool in node_pools(stack):
        if gpus_of(pool):
            yield Problem(path="", got="watched by nobody: the add-on eks-node-monitoring-agent is not there", at=pool)


_GPU_GROUP: Final = {"instanceTypes": ["p4d.24xlarge"], "nodeRepairConfig": {"enabled": True}}
_GPU_POOL: Final = {"spec": {"template": {"metadata": {"labels": {"nvidia.com/gpu": "true"}}}}}
_KARPENTER: Final = {
    "chart": "oci://public.ecr.aws/karpenter/karpenter",
    "values": {"settings": {"featureGates": {"nodeRepair": True}}},
}
_WATCHED: Final[Fixture] = {
    "group": FixtureResource(type=NODE_GROUP, props=_GPU_GROUP),
    "pool": FixtureResource(type=NODE_POOL, props=_GPU_POOL),
    "cpu": FixtureResource(type=NODE_GROUP, props={"instanceTypes": ["m7i.large"]}),
    "agent": FixtureResource(type=ADDON, props={"addonName": "eks-node-monitoring-agent"}),
    "karpenter": FixtureResource(type=RELEASE, props=_KARPENTER),
    "other": FixtureResource(type=RELEASE, props={"chart": "kueue"}),
}

GPU_NODE_REPAIR = StackRule(
    name="gpu-node-repair",
    title="A node whose GPU fails is found and replaced",
    types=(NODE_GROUP, NODE_POOL, ADDON, RELEASE),
    severity=Severity.MEDIUM,
    levels=Levels("A/M/M"),
    why="A GPU with an Xid error looks Ready, and job after job dies on it (EKS Best Practices, AI/ML compute).",
    fix="Set repair: true of the pool, and leave the add-on eks-node-monitoring-agent enabled.",
    checks={
        "group": Check(
            asks="must be true",
            find=_unrepaired,
            bad=(
                with_(_WATCHED, "group", "nodeRepairConfig.enabled", False),
                with_(_WATCHED, "group", "nodeRepairConfig"),
            ),
        ),
        "karpenter": Check(
            asks="must be true",
            find=_karpenter_blind,
            bad=(with_(_WATCHED, "karpenter", "values.settings.featureGates", {}),),
        ),
        "agent": Check(
            asks="must be watched",
            find=_unwatched,
            bad=(without(_WATCHED, "agent"), without(_WATCHED, "agent", "group")),
        ),
    },
    good=(
        _WATCHED,
        {"cpu": _WATCHED["cpu"], "karpenter": FixtureResource(type=RELEASE, props={"chart": _KARPENTER["chart"]})},
    ),
)

RULES = (IP_HEADROOM, GPU_NODE_REPAIR)
