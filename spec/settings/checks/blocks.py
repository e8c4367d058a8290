"""Checks of Capacity Blocks: their dates, and whether the pool runs its nodes on the right days."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Final

from spec.settings.capacity import Reservation
from spec.settings.checks.base import Context
from spec.settings.pools import Pool, Provisioner
from spec.settings.problems import Problem

DAYS: Final = frozenset((*range(1, 15), *range(21, 183, 7)))
"""Possible lengths: 1 to 14 days, then weeks up to 182 days (botocore 1.44.5, ec2 DescribeCapacityBlockOfferings,
`CapacityDurationHours`)."""


def dates(context: Context, pools: dict[str, Pool]) -> Iterator[Problem]:
    """A managed pool on a Capacity Block names both days, and the settings are of no use elsewhere."""
    for name, pool in pools.items():
        reservation, path = pool.capacity.reservation, f"pools.{name}.capacity.reservation"
        if reservation is None:
            continue
        managed = reservation.kind == "capacity-block" and pool.provisioner is Provisioner.MANAGED
        if reservation.active and not managed:
            rule = "only a managed pool on a Capacity Block is switched by `active`"
            fix = "Remove it: Karpenter and on-demand reservations use what is active."
            yield Problem(f"{path}.active", rule, True, fix)
        missing = [key for key in ("start_date", "end_date") if getattr(reservation, key) is None]
        if managed and missing:
            rule = "a managed pool on a Capacity Block needs the days on which the block starts and ends"
            fix = "Add `startDate` and `endDate`, as `aws ec2 describe-capacity-reservations` shows them."
            yield Problem(path, rule, reservation.id, fix)
        length = _length(reservation)
        if reservation.kind == "capacity-block" and length is not None and length not in DAYS:
            rule = "a Capacity Block lasts 1 to 14 days, or 21 to 182 days in weeks"
            yield Problem(f"{path}.endDate", rule, str(reservation.end_date), "Use the days of the purchased block.")


def too_early(context: Context, pools: dict[str, Pool]) -> Iterator[Problem]:
    """No nodes before the block starts: EC2 launches none, and the node group fails after half an hour."""
    for name, reservation, start, _ in _dated(pools):
        if reservation.active and context.today < start:
            rule = f"the Capacity Block starts on {start}, and EC2 launches no instance before"
            yield Problem(f"pools.{name}.capacity.reservation.active", rule, True, "Set it on that day.")


def out_of_step(context: Context, pools: dict[str, Pool]) -> Iterator[Problem]:
    """A block that is paid for and not used, or that has ended (a warning)."""
    for name, reservation, start, end in _dated(pools):
        path = f"pools.{name}.capacity.reservation.active"
        if not reservation.active and start <= context.today < end:
            rule = f"the Capacity Block is paid for from {start} to {end}, and the pool has no nodes"
            yield Problem(path, rule, False, "Set `active: true`, except for an upgrade.")
        if reservation.active and context.today >= end:
            rule = f"the Capacity Block ends on {end}, and EC2 terminates its instances"
            yield Problem(path, rule, True, "Set `active: false`, so that jobs are drained; then name the next block.")


def _dated(pools: dict[str, Pool]) -> Iterator[tuple[str, Reservation, date, date]]:
    for name, pool in pools.items():
        reservation = pool.capacity.reservation
        if reservation is None or pool.provisioner is not Provisioner.MANAGED or reservation.kind != "capacity-block":
            continue
        if reservation.start_date is not None and reservation.end_date is not None:
            yield name, reservation, reservation.start_date, reservation.end_date


def _length(reservation: Reservation) -> int | None:
    if reservation.start_date is None or reservation.end_date is None:
        return None
    return (reservation.end_date - reservation.start_date).days
