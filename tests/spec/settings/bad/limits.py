"""Cost limits and declared use that must be refused."""

from __future__ import annotations

from typing import Final

from tests.spec.settings.bad.row import Bad

LIMITS: Final = (
    Bad(
        62, "ceiling 0", {"cost.limits.ceilingUsdPerHour": 0}, "cost.limits.ceilingUsdPerHour", "at least 0.01", "0.01"
    ),
    Bad(
        62,
        "limit of an unknown pool",
        {"cost.limits.pools": {"a1000": 10}},
        "cost.limits.pools.a1000",
        "must be a pool of this stack",
        "Name one of",
    ),
    Bad(
        62,
        "approval for an unknown pool",
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
        "is required",
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
    Bad(
        62,
        "use of an unknown pool",
        {"cost.usage.pools": {"a1000": {"nodes": 1}}},
        "cost.usage.pools.a1000",
        "must be a pool of this stack",
        "Name one of",
    ),
    Bad(
        62,
        "more nodes in use than the pool can have",
        {"cost.usage.pools": {"l4": {"nodes": 900}}},
        "cost.usage.pools.l4.nodes",
        "must be from the pool's min to its max, 0 to 8",
        "Change it",
    ),
    Bad(
        62,
        "use on a type that the pool does not have",
        {"cost.usage.pools": {"l4": {"nodes": 1, "instanceType": "p5.48xlarge"}}},
        "cost.usage.pools.l4.instanceType",
        "must be a type of the pool",
        "Use g6.xlarge",
    ),
    Bad(
        62,
        "a day of 25 hours",
        {"cost.usage.pools": {"l4": {"nodes": 1, "hoursPerWeekday": 25}}},
        "cost.usage.pools.l4.hoursPerWeekday",
        "at most 24.0",
        "24.0 or less",
    ),
    Bad(
        62,
        "use of a file system that does not exist",
        {"cost.usage.efs": {"standardGib": 10}},
        "cost.usage.efs",
        "must not be set while storage.efs is not set",
        "Remove it",
    ),
    Bad(
        62,
        "logs of containers that go to S3",
        {"addons.fluentBit": {"destination": "s3"}, "cost.usage.containerLogsGib": 10},
        "cost.usage.containerLogsGib",
        "does not write to CloudWatch",
        "Remove it",
    ),
    Bad(
        62,
        "traffic of endpoints that do not exist",
        {"cost.usage.endpointsGib": 10},
        "cost.usage.endpointsGib",
        "must not be set while network.endpoints is empty",
        "Remove it",
    ),
    Bad(
        62,
        "a bucket of another name",
        {"cost.usage.buckets": {"row": 1}},
        "cost.usage.buckets.row",
        "must be 'raw'",
        "raw",
    ),
)
