"""Current Spot savings, from EC2's Spot price history (ec2:DescribeSpotPriceHistory)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final, Protocol

DAYS: Final = 7
"""Days of history: prices change within a week, and the range must cover that."""
_DIGITS: Final = Decimal("0.01")


class Ec2(Protocol):
    """The methods used of boto3's `ec2` client."""

    def describe_spot_price_history(self, **arguments: Any) -> Mapping[str, Any]:
        """One page of prices."""


def savings(client: Ec2, on_demand: Mapping[str, Decimal], now: datetime) -> dict[str, Decimal]:
    """Average Spot savings per type, as a share of the on-demand price; types without a Spot price are omitted."""
    seen: dict[str, list[Decimal]] = defaultdict(list)
    for row in _history(client, sorted(on_demand), now):
        seen[row["InstanceType"]].append(Decimal(row["SpotPrice"]))
    saved = {kind: 1 - sum(prices, Decimal(0)) / len(prices) / on_demand[kind] for kind, prices in sorted(seen.items())}
    return {kind: share.quantize(_DIGITS) for kind, share in saved.items() if share > 0}


def _history(client: Ec2, kinds: list[str], now: datetime) -> Iterable[Mapping[str, Any]]:
    arguments: dict[str, Any] = {
        "InstanceTypes": kinds,
        "ProductDescriptions": ["Linux/UNIX"],
        "StartTime": now - timedelta(days=DAYS),
        "EndTime": now,
    }
    while kinds:
        page = client.describe_spot_price_history(**arguments)
        yield from page["SpotPriceHistory"]
        if not page.get("NextToken"):
            return
        arguments["NextToken"] = page["NextToken"]
