"""A bill as plain values: the estimate with its limits, for the policy pack."""

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
"""Instance families that cost from 20 to 120 USD per hour (on demand, us-east-1; `spec.catalog.instances`)."""


def bill_of(platform: Platform, specs: Mapping[str, PoolSpec]) -> dict[str, Any]:
    """The bill of a stack, without unpriced items, which `slipway cost` lists."""
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
    """A bill in plain values, keys in camel case like all outputs of components.

    Args:
        floor: USD per hour with everything at its minimum.
        expected: USD per hour with schedules, Spot and the use that the settings declare.
        ceiling: USD per hour with everything at its maximum.
        pools: USD per hour of each pool at its maximum.
        specs: Pools by name.
        limits: Limits of the settings.
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
    """Pools that may run premium instances at the on-demand price."""
    return [
        spec.name
        for spec in specs
        if spec.market is Market.ON_DEMAND and any(kind.name.startswith(PREMIUM) for kind in spec.instance_types)
    ]


def _usd(amount: Decimal) -> float:
    """Rounded to the cent, so that the last digit of a sum does not change a plan."""
    return float(round(amount, 2))
