"""Fakes of the AWS price list and Spot price history APIs with a few products (moto has no price list)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


def product(service: str, usage: str, *tiers: str, **attributes: str) -> tuple[str, dict[str, Any]]:
    """A product of a service, with the prices of its tiers."""
    dimensions = {
        f"tier{index}": {"beginRange": str(index * 1000), "pricePerUnit": {"USD": usd}, "unit": "x"}
        for index, usd in enumerate(tiers)
    }
    row = {
        "product": {"sku": "S", "attributes": {"usagetype": usage, "regionCode": "eu-west-1", **attributes}},
        "terms": {"OnDemand": {"term": {"priceDimensions": dimensions}}},
        "version": "20261101",
        "publicationDate": "2026-11-01T10:00:00Z",
    }
    return service, row


@dataclass
class FakePricing:
    """Implements GetProducts with its filters, one product per page."""

    products: list[tuple[str, dict[str, Any]]]
    requests: list[Mapping[str, Any]] = field(default_factory=list)

    def get_products(self, **arguments: Any) -> Mapping[str, Any]:
        self.requests.append(arguments)
        filters = {each["Field"]: each["Value"] for each in arguments["Filters"]}
        rows = [
            json.dumps(row)
            for service, row in self.products
            if service == arguments["ServiceCode"]
            and all(row["product"]["attributes"].get(key) == value for key, value in filters.items())
        ]
        at = int(arguments.get("NextToken", "0"))
        more = {"NextToken": str(at + 1)} if at + 1 < len(rows) else {}
        return {"PriceList": rows[at : at + 1], **more}


@dataclass
class FakeEc2:
    """Implements DescribeSpotPriceHistory, one price per page."""

    prices: list[tuple[str, str]]

    def describe_spot_price_history(self, **arguments: Any) -> Mapping[str, Any]:
        assert isinstance(arguments["StartTime"], datetime)
        rows = [
            {"InstanceType": kind, "SpotPrice": usd} for kind, usd in self.prices if kind in arguments["InstanceTypes"]
        ]
        at = int(arguments.get("NextToken", "0"))
        return {"SpotPriceHistory": rows[at : at + 1], "NextToken": str(at + 1) if at + 1 < len(rows) else ""}
