"""An estimate as the program says it of itself, for policies: totals, and each pool at its largest."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from components.cost import bill
from components.pools.spec import PoolSpec
from infra.config.platform import Platform
from slipway.cost.estimate import estimate


def facts(platform: Platform, specs: Mapping[str, PoolSpec]) -> dict[str, Any]:
    """The bill of a stack in plain values; what has no price is not in it, and `slipway cost` lists that."""
    whole = estimate(platform)
    by_pool = whole.by_pool()
    return bill.facts(
        floor=whole.floor,
        expected=whole.expected,
        ceiling=whole.ceiling,
        pools={name: by_pool[name].ceiling if name in by_pool else Decimal(0) for name in specs},
        specs=specs,
        limits=platform.cost.limits,
    )
