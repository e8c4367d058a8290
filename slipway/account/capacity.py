"""What EC2 gives the account: quotas, Availability Zones and the types they offer, capacity reservations.

A zone's name is not the same place in every account, so only the account itself can answer (AWS Regions and
Availability Zones guide, "Availability Zone IDs").
"""

from collections.abc import Iterator, Mapping
from typing import Any

from slipway.account.context import AccountContext, Diagnosis, failed, note, ok
from spec.catalog import instances, quotas
from spec.catalog.quotas import Quota
from spec.settings.capacity import Market
from spec.settings.platform import Platform
from spec.settings.pools import Pool, Provisioner

# EC2 and VPC quotas against what the stack creates at its maximum.


def vcpus(context: AccountContext) -> Iterator[Diagnosis]:
    """Each quota on vCPUs covers its pools at their maximum.

    A pool counts with the largest of its types. Instances of a Capacity Block or an On-Demand Capacity Reservation are
    paid for already, and are left out.
    """
    needed, unlisted = vcpus_needed(context.platform)
    for key, pools in needed.items():
        quota = quotas.VCPUS[key]
        total, granted = sum(pools.values()), _granted(context, quota)
        parts = " + ".join(f"{name} {count}" for name, count in sorted(pools.items()))
        state = f"{granted:g} vCPUs, {total} needed ({parts})"
        if granted < total:
            yield failed(f"quota {quota.name}", state, _request(context, quota, total))
        else:
            yield ok(f"quota {quota.name}", state)
    for name in unlisted:
        yield note("quota", f"no quota is known for pool {name}'s types", "look it up in Service Quotas")


def vcpus_needed(platform: Platform) -> tuple[dict[str, dict[str, int]], list[str]]:
    """vCPUs of each pool at its maximum by the key of their quota, and the pools whose quota is not known."""
    needed: dict[str, dict[str, int]] = {}
    unlisted = []
    for name, pool in platform.capacities.items():
        if pool.capacity.market is Market.RESERVED:
            continue
        spot = pool.capacity.market is Market.SPOT
        largest: dict[str, int] = {}
        for kind in pool.instance_types:
            key = quotas.vcpu_key(kind, spot=spot)
            if key is None:
                unlisted.append(name)
                break
            largest[key] = max(largest.get(key, 0), instances.get(kind).vcpus)
        for key, count in largest.items():
            needed.setdefault(key, {})[name] = count * pool.max
    return needed, unlisted


def network(context: AccountContext) -> Iterator[Diagnosis]:
    """The quotas cover the stack's VPC and its Elastic IP addresses; skipped if the cluster or the VPC exists."""
    settings = context.platform.network
    if settings.existing is not None or _cluster_exists(context):
        return
    ec2 = context.client("ec2")
    used = {
        quotas.ADDRESSES: (len(ec2.describe_addresses()["Addresses"]), settings.nat_gateways),
        quotas.NETWORKS: (sum(1 for _ in context.pages("ec2", "describe_vpcs", "Vpcs")), 1),
    }
    for quota, (count, more) in used.items():
        granted = _granted(context, quota)
        state = f"{granted:g}, {count} in use and {more} needed"
        if count + more > granted:
            yield failed(f"quota {quota.name}", state, _request(context, quota, count + more))
        else:
            yield ok(f"quota {quota.name}", state)


def _granted(context: AccountContext, quota: Quota) -> float:
    """The account's value; the default of AWS if it was never changed."""
    arguments = {"ServiceCode": quota.service, "QuotaCode": quota.code}
    answer = context.look_up("service-quotas", "get_service_quota", "NoSuchResourceException", **arguments)
    if answer is None:
        answer = context.client("service-quotas").get_aws_default_service_quota(**arguments)
    return float(answer["Quota"]["Value"])


def _request(context: AccountContext, quota: Quota, value: int) -> str:
    return (
        f"aws service-quotas request-service-quota-increase --service-code {quota.service} "
        f"--quota-code {quota.code} --desired-value {value} --region {context.region}"
    )


def _cluster_exists(context: AccountContext) -> bool:
    name = context.platform.cluster_name
    return context.look_up("eks", "describe_cluster", "ResourceNotFoundException", name=name) is not None


# Availability Zones of the stack, and which of them offer the types of each pool.


def usable(context: AccountContext) -> Iterator[Diagnosis]:
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


def offerings(context: AccountContext) -> Iterator[Diagnosis]:
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
        for finding in _pool(name, pool, context.platform.place.zones_of(pool), offered)
    ]
    yield from findings or [ok("instance types", f"{len(types)} types are offered in the zones of their pools")]


def _pool(name: str, pool: Pool, zones: tuple[str, ...], offered: dict[str, set[str]]) -> Iterator[Diagnosis]:
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


# Capacity reservations that pools name.


_UNKNOWN = "InvalidCapacityReservationId"


def check(context: AccountContext) -> Iterator[Diagnosis]:
    """Each reservation exists, is active, and fits its pool: type, zone and number of instances."""
    for name, pool in context.platform.capacities.items():
        reservation = pool.capacity.reservation
        if reservation is None:
            continue
        what = f"pool {name}"
        found = _reservation(context, reservation.id)
        if found is None:
            yield failed(
                what, f"{reservation.id} does not exist in {context.region}", "correct capacity.reservation.id"
            )
            continue
        problems = list(_mismatches(pool, found))
        if problems:
            yield failed(what, f"{reservation.id}: {'; '.join(problems)}", f"correct pools.{name}, or the reservation")
        elif found["State"] in ("scheduled", "pending", "assessing", "delayed"):
            start = found.get("StartDate")
            when = f", from {start:%Y-%m-%d %H:%M} UTC" if start else ""
            if reservation.active:
                fix = f"set pools.{name}.capacity.reservation.active: false until then"
                yield failed(what, f"{reservation.id} is {found['State']}{when}, and EC2 launches nothing before", fix)
                continue
            yield note(what, f"{reservation.id} is {found['State']}{when}", "the pool has no nodes until it is active")
        elif found["State"] != "active":
            yield failed(what, f"{reservation.id} is {found['State']}", "buy another, or remove the pool")
        else:
            end = found.get("EndDate")
            until = f" until {end:%Y-%m-%d %H:%M} UTC" if end else ""
            if _waiting(pool):
                fix = f"set pools.{name}.capacity.reservation.active: true, then `up`"
                yield note(what, f"{reservation.id} is active{until}, and the pool has no nodes", fix)
                continue
            yield ok(what, f"{reservation.id} is active{until}")


def _waiting(pool: Pool) -> bool:
    reservation = pool.capacity.reservation
    block = reservation is not None and reservation.kind == "capacity-block" and not reservation.active
    return block and pool.provisioner is Provisioner.MANAGED


def _mismatches(pool: Pool, found: Mapping[str, Any]) -> Iterator[str]:
    if found["InstanceType"] not in pool.instance_types:
        yield f"it is for {found['InstanceType']}, and the pool is {', '.join(pool.instance_types)}"
    if pool.zones and found["AvailabilityZone"] not in pool.zones:
        yield f"it is in {found['AvailabilityZone']}, and the pool is in {', '.join(pool.zones)}"
    if found["TotalInstanceCount"] < pool.max:
        yield f"it has {found['TotalInstanceCount']} instances, and the pool's max is {pool.max}"
    reservation = pool.capacity.reservation
    for key, day in (("StartDate", reservation.start_date), ("EndDate", reservation.end_date)) if reservation else ():
        if day is not None and key in found and found[key].date() != day:
            yield f"its {key} is {found[key]:%Y-%m-%d}, and that of the pool is {day}"


def _reservation(context: AccountContext, id: str) -> Mapping[str, Any] | None:
    answer = context.look_up("ec2", "describe_capacity_reservations", _UNKNOWN, CapacityReservationIds=[id])
    return next(iter(answer["CapacityReservations"]), None) if answer else None
