"""Bounds of the bill that must be refused."""

from __future__ import annotations

from typing import Final

from tests.infra.config.bad.row import Bad

LIMITS: Final = (
    Bad(62, "ceiling 0", {"cost.limits.ceilingUsdPerHour": 0}, "cost.limits.ceilingUsdPerHour", "at least 0.01", "0.01"),
    Bad(
        62,
        "bound of a pool that is not there",
        {"cost.limits.pools": {"a1000": 10}},
        "cost.limits.pools.a1000",
        "must be a pool of this stack",
        "Name one of",
    ),
    Bad(
        62,
        "approval for a pool that is not there",
        {"cost.limits.premium": {"a1000": {"reference": "plan", "until": "2027-01-01"}}},
        "cost.limits.premium.a1000",
        "must be a pool of this stack",
        "Name one of",
    ),
    Bad(
        62,
        "approval without an end",
        {"cost.limits.premium": {"a100": {"reference": "plan"}}},
        "cost.limits.premium.a100.until",
        "must be given",
        "until",
    ),
    Bad(
        62,
        "floor above the ceiling",
        {"cost.limits": {"ceilingUsdPerHour": 10, "floorUsdPerHour": 11}},
        "cost.limits.floorUsdPerHour",
        "must not be above the ceiling",
        "Lower the floor",
    ),
)
