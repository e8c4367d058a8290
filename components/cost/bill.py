"""What a stack says of its own bill, in plain values: the estimate beside the bounds that were set for it.

The policy pack compares them. It sees resources and no settings, and prices depend on what a preview can't know; so the
program, which knows both, says them once, in outputs that are known before anything is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, Final

import pulumi

from components.pools.spec import PoolSpec
from infra.config.capacity import Market
from infra.config.limits import Limits

PREMIUM: Final = ("p4", "p5", "p6")
"""Families whose machines cost from 20 to 120 USD an hour (on demand, us-east-1; `infra.catalog.instances`)."""


class Bill(pulumi.ComponentResource):
    """The bill as it is foreseen. It makes nothing."""

    TOKEN: Final = "slipway:cost:Bill"  # noqa: S105 - a type, not a secret

    def __init__(self, name: str, facts: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.TOKEN, name, None, opts)
        self.register_outputs({"bill": dict(facts)})


def facts(
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
