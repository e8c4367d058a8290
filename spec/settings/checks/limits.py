"""Checks of cost limits: they name existing pools, and do not contradict each other."""

from __future__ import annotations

from collections.abc import Iterator

from spec.settings.checks.base import Context
from spec.settings.cost import Cost
from spec.settings.pools import Pool
from spec.settings.problems import Problem


def limits_of_pools(context: Context, cost: Cost, _pools: dict[str, Pool]) -> Iterator[Problem]:
    """A limit or an approval names an existing pool."""
    named = {"pools": list(cost.limits.pools), "premium": list(cost.limits.premium)}
    for key, names in named.items():
        for name in names:
            if name not in context.named("pools"):
                fix = f"Name one of {', '.join(sorted(context.named('pools')))}, or remove the entry."
                yield Problem(f"cost.limits.{key}.{name}", "must be a pool of this stack", name, fix)


def floor_below_ceiling(_context: Context, cost: Cost) -> Iterator[Problem]:
    """The floor is not above the ceiling."""
    floor, ceiling = cost.limits.floor_usd_per_hour, cost.limits.ceiling_usd_per_hour
    if floor is not None and ceiling is not None and floor > ceiling:
        fix = "Lower the floor, or raise the ceiling."
        yield Problem("cost.limits.floorUsdPerHour", f"must not be above the ceiling, {ceiling}", floor, fix)
