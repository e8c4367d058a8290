"""Availability Zones of the stack, and which of them offer the types of each pool.

A zone's name is not the same place in every account, so only the account itself can answer (AWS Regions and
Availability Zones guide, "Availability Zone IDs").
"""

from __future__ import annotations

from collections.abc import Iterator

from slipway.account.context import Context, failed, note, ok
from slipway.findings import Finding
from spec.settings.pools import Pool, Provisioner
from spec.settings.zones import zones_of


def usable(context: Context) -> Iterator[Finding]:
    """Every zone of the stack exists for the account, and is available."""
    answer = context.client("ec2").describe_availability_zones(AllAvailabilityZones=True)
    states = {zone["ZoneName"]: zone for zone in answer["AvailabilityZones"]}
    wrong = False
    declared = context.platform.account.zone_ids
    for name in context.platform.network.zones:
        zone = states.get(name)
        if zone is not None and declared.get(name, zone["ZoneId"]) != zone["ZoneId"]:
            fix = f"set account.zoneIds.{name}: {zone['ZoneId']}"
            yield failed("zones", f"{name} is {zone['ZoneId']} in this account, not {declared[name]}", fix)
            wrong = True
        if zone is None:
            known = sorted(key for key, each in states.items() if each.get("ZoneType") == "availability-zone")
            yield failed("zones", f"{context.region} has no zone {name} here", f"use some of {', '.join(known)}")
            wrong = True
        elif zone["State"] != "available":
            yield note("zones", f"{name} is {zone['State']}", "see the AWS Health Dashboard")
            wrong = True
    if not wrong:
        ids = ", ".join(f"{name} is {states[name]['ZoneId']}" for name in context.platform.network.zones)
        yield ok("zones", ids)


def offerings(context: Context) -> Iterator[Finding]:
    """Every pool's zones offer its types.

    A managed node group is refused if one of its subnets is in a zone that does not offer one of its types
    (`InvalidRequestException`); Karpenter leaves such a zone out, and needs one that offers a type.
    """
    types = sorted({kind for pool in context.platform.capacities.values() for kind in pool.instance_types})
    offered: dict[str, set[str]] = {kind: set() for kind in types}
    entries = context.pages(
        "ec2",
        "describe_instance_type_offerings",
        "InstanceTypeOfferings",
        LocationType="availability-zone",
        Filters=[{"Name": "instance-type", "Values": types}],
    )
    for entry in entries:
        offered.setdefault(entry["InstanceType"], set()).add(entry["Location"])
    findings = [
        finding
        for name, pool in context.platform.capacities.items()
        for finding in _pool(name, pool, zones_of(pool, context.platform.network, context.platform.account), offered)
    ]
    yield from findings or [ok("instance types", f"{len(types)} types are offered in the zones of their pools")]


def _pool(name: str, pool: Pool, zones: tuple[str, ...], offered: dict[str, set[str]]) -> Iterator[Finding]:
    missing = {kind: [zone for zone in zones if zone not in offered[kind]] for kind in pool.instance_types}
    gaps = {kind: lacking for kind, lacking in missing.items() if lacking}
    what = f"pool {name}"
    if pool.provisioner is Provisioner.MANAGED:
        for kind, lacking in gaps.items():
            good = [zone for zone in zones if zone not in lacking]
            fix = f"set pools.{name}.zones: [{', '.join(good)}]" if good else f"use another type in pools.{name}"
            yield failed(what, f"{kind} is not offered in {', '.join(lacking)}", fix)
    elif len(gaps) == len(pool.instance_types) and all(len(lacking) == len(zones) for lacking in gaps.values()):
        fix = f"use other types or zones in pools.{name}"
        yield failed(what, f"none of its types is offered in {', '.join(zones)}", fix)
