"""Machines and volumes of the pools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

from components.pools.spec import PoolSpec
from components.pools.volumes import GP3_IOPS, GP3_MIBPS, volumes
from infra.catalog import instances, prices
from infra.catalog.instances import InstanceType
from infra.config.capacity import Market
from slipway.cost.model import Line, Unpriced, priced

_INSTANCES: Final = next(source for source in instances.SOURCES if "karpenter" in source.text.lower())
"""Source of the on-demand prices."""


def machines(spec: PoolSpec) -> Iterator[Line | Unpriced]:
    """Nodes of a pool at their cheapest and at their dearest type.

    Managed groups and NodePools may run any of their types: the floor takes the cheapest and the ceiling the dearest.
    """
    what = f"pool {spec.name}"
    if spec.capacity_block:
        yield Unpriced(f"{what}: {spec.settings.max} nodes of a Capacity Block", prices.UNPRICED["capacity-block"])
        return
    if spec.market is Market.RESERVED:
        why = "a Capacity Reservation is billed in full, used or not, and its size is not in the settings"
        yield Unpriced(f"{what}: reserved nodes that do not run", why)
    known = [kind for kind in spec.instance_types if kind.usd_per_hour is not None]
    for kind in spec.instance_types:
        if kind.usd_per_hour is None:
            yield Unpriced(f"{what}: up to {spec.settings.max} nodes of {kind.name}", "no dated on-demand price found")
    if known:
        # A pool with a type of unknown price may run that type alone: no floor can be promised for its other types.
        least = spec.settings.min if len(known) == len(spec.instance_types) else 0
        yield _nodes(spec, known, what, least)


def storage(spec: PoolSpec) -> Iterator[Line]:
    """Root volumes of a pool: size, and what is above the IOPS and throughput that gp3 has for nothing."""
    least, most = spec.settings.min, spec.settings.max
    found = volumes(spec)
    amounts = {
        "ebs-gp3": (sum(volume.size_gib for volume in found), "GB"),
        "ebs-gp3-iops": (sum(max(0, volume.iops - GP3_IOPS) for volume in found), "IOPS"),
        "ebs-gp3-throughput": (sum(max(0, volume.throughput_mibps - GP3_MIBPS) for volume in found), "MiB/s"),
    }
    for name, (amount, unit) in amounts.items():
        if amount:
            what = f"pool {spec.name}: volumes, {unit}"
            yield priced(what, prices.get(name), least * amount, most * amount, unit)


def _nodes(spec: PoolSpec, kinds: Sequence[InstanceType], what: str, least: int) -> Line:
    hourly = [_range(kind, spec.market) for kind in kinds]
    spot = spec.market is Market.SPOT
    return Line(
        what=f"{what}: {spec.market} nodes, {_named(kinds)}",
        least=least,
        most=spec.settings.max,
        low=min(low for low, _ in hourly),
        high=max(high for _, high in hourly),
        unit="node",
        source=prices.SPOT.source if spot else _INSTANCES,
    )


def _range(kind: InstanceType, market: Market) -> tuple[Decimal, Decimal]:
    on_demand = kind.usd_per_hour or Decimal(0)
    if market is not Market.SPOT:
        return on_demand, on_demand
    # A type's own discount is one day's; the range of all of them is what its price moves in.
    return on_demand * (1 - prices.SPOT.high), on_demand * (1 - prices.SPOT.low)


def _named(kinds: Sequence[InstanceType]) -> str:
    by_price = sorted(kinds, key=lambda kind: (kind.usd_per_hour or Decimal(0), kind.name))
    cheapest, dearest = by_price[0].name, by_price[-1].name
    return cheapest if cheapest == dearest else f"{cheapest} to {dearest}"
