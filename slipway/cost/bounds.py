"""An estimate as the program says it of itself, for policies: totals, and each pool at its largest."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from components.cost import bill
from components.pools.spec import PoolSpec
from infra.config.platform import Platform
from slipway.cost.estimate import estimate
from slipway.cost.model import Line
from slipway.cost.pools import machines, storage


def facts(platform: Platform, specs: Mapping[str, PoolSpec]) -> dict[str, Any]:
    """The bill of a stack in plain values; what has no price is not in it, and `slipway cost` lists that."""
    whole = estimate(platform)
    return bill.facts(
        floor=whole.floor,
        ceiling=whole.ceiling,
        pools={name: _ceiling(spec) for name, spec in specs.items()},
        specs=specs,
        limits=platform.cost.limits,
    )


def _ceiling(spec: PoolSpec) -> Decimal:
    lines = (line for line in [*machines(spec), *storage(spec)] if isinstance(line, Line))
    return sum((line.ceiling for line in lines), Decimal(0))
