"""Capacity reservations that pools name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from botocore.exceptions import ClientError

from slipway.account.context import Context, failed, note, ok
from slipway.findings import Finding
from spec.settings.pools import Pool, Provisioner

_UNKNOWN = "InvalidCapacityReservationId"


def check(context: Context) -> Iterator[Finding]:
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


def _reservation(context: Context, id: str) -> Mapping[str, Any] | None:
    try:
        answer = context.client("ec2").describe_capacity_reservations(CapacityReservationIds=[id])
    except ClientError as error:
        if error.response["Error"]["Code"].startswith(_UNKNOWN):
            return None
        raise
    reservations: list[Mapping[str, Any]] = answer["CapacityReservations"]
    return reservations[0] if reservations else None
