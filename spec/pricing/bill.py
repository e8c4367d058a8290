"""A bill as plain values: the estimate beside the bounds that were set for it, for the policy pack."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, Final

from spec.pools.pool_spec import PoolSpec
from spec.pricing.estimate import estimate
from spec.settings.capacity import Market
from spec.settings.limits import Limits
from spec.settings.platform import Platform

PREMIUM: Final = ("p4", "p5", "p6")
"""Families whose machines cost from 20 to 120 USD an hour (on demand, us-east-1; `spec.catalog.instances`)."""


def bill_of(platform: Platform, specs: Mapping[str, PoolSpec]) -> dict[str, Any]:
    """The bill of a stack; what has no price is not in it, and `slipway cost` lists that."""
    whole = estimate(platform)
    by_pool = whole.by_pool()
    return bill_facts(
        floor=whole.floor,
        expected=whole.expected,
        ceiling=whole.ceiling,
        pools={name: by_pool[name].ceiling if name in by_pool else Decimal(0) for name in specs},
        specs=specs,
        limits=platform.cost.limits,
    )


def bill_facts(
    *,
    floor: Decimal,
    expected: Decimal,
    ceiling: Decimal,
    pools: Mapping[str, Decimal],
    specs: Mapping[str, PoolSpec],
    limits: Limits,
) -> dict[str, Any]:
    """A bill in plain values, keys in camel case as everything that leaves a component.

    Args:
        floor: USD an hour with everything at its least.
        expected: USD an hour with schedules, Spot and the use that the settings declare.
        ceiling: USD an hour with everything at its largest.
        pools: USD an hour of each pool at its largest.
        specs: Pools by name.
        limits: Bounds that were set.
    """
    return {
        "floorUsdPerHour": _usd(floor),
        "expectedUsdPerHour": _usd(expected),
        "ceilingUsdPerHour": _usd(ceiling),
        "pools": {name: _usd(amount) for name, amount in sorted(pools.items())},
        "premiumOnDemand": sorted(premium(specs.values())),
        "limits": limits.model_dump(mode="json", by_alias=True, exclude_none=True),
    }


def premium(specs: Iterable[PoolSpec]) -> list[str]:
    """Pools that may run premium machines at their full price."""
    return [
        spec.name
        for spec in specs
        if spec.market is Market.ON_DEMAND and any(kind.name.startswith(PREMIUM) for kind in spec.instance_types)
    ]


def _usd(amount: Decimal) -> float:
    """To the cent: a plan must not change with the last digit of a sum."""
    return float(round(amount, 2))
