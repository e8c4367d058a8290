"""Checks of `network.existing` that need no AWS; `spec.settings.found` has those that a preview makes."""

from __future__ import annotations

from collections.abc import Iterator

from spec.settings.checks.base import Context
from spec.settings.existing import KEYS
from spec.settings.network import Nat, Network
from spec.settings.problems import Problem

_PATH = "network.existing"


def named_once(_context: Context, network: Network) -> Iterator[Problem]:
    """VPC and subnets are named by ID or by tags: not by both, and not by neither."""
    if network.existing is None:
        return
    vpc = network.existing.vpc
    if (vpc.id is None) == (not vpc.tags):
        yield Problem(f"{_PATH}.vpc", "the VPC is named by its ID or by tags", vpc.id, "Set one of `id` and `tags`.")
    for kind, subnets in network.existing.kinds.items():
        if bool(subnets.ids) == bool(subnets.tags):
            rule = "subnets are named by their IDs or by tags"
            yield Problem(f"{_PATH}.{KEYS[kind]}", rule, dict(subnets.ids) or None, "Set one of `ids` and `tags`.")


def one_subnet_in_each_zone(_context: Context, network: Network) -> Iterator[Problem]:
    """Subnets are named for the zones of the network, and none of them twice."""
    if network.existing is None:
        return
    seen: dict[str, str] = {}
    for kind, subnets in network.existing.kinds.items():
        path = f"{_PATH}.{KEYS[kind]}.ids"
        missing = [zone for zone in network.zones if zone not in subnets.ids]
        if subnets.ids and missing:
            fix = f"Add {', '.join(missing)}, or remove it from network.zones."
            yield Problem(path, "every zone of the network needs a subnet", sorted(subnets.ids), fix)
        for zone, id in subnets.ids.items():
            place = f"{path}.{zone}"
            if zone not in network.zones:
                yield Problem(place, "the zone must be in network.zones", zone, f"Use {', '.join(network.zones)}.")
            if id in seen:
                yield Problem(place, f"a subnet has one purpose, and {seen[id]} names it", id, "Name another subnet.")
            seen.setdefault(id, place)


def nothing_made(context: Context, network: Network) -> Iterator[Problem]:
    """Settings that would make parts of a VPC are not set for one that exists."""
    if network.existing is None:
        return
    if "nat" in context.raw["network"] and network.nat is not Nat.NONE:
        rule = "Slipway makes no NAT gateway in an existing VPC"
        fix = "Remove it, or set `none` if the private subnets have no route to the internet."
        yield Problem("network.nat", rule, str(network.nat), fix)
    if (network.pod_cidr is None) != (network.existing.pod_subnets is None):
        rule = "subnets for pods and their range belong together"
        path = "network.podCidr" if network.pod_cidr is None else f"{_PATH}.podSubnets"
        yield Problem(path, rule, None, "Set both network.podCidr and network.existing.podSubnets, or none of them.")
