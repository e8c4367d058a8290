"""A price list of AWS, as its API answers."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final

from slipway.cost.prices import QUERIES, machine, query_of
from spec.catalog import instances, prices

PUBLISHED: Final = date(2026, 11, 1)
"""Day of the price list."""


Product = tuple[str, dict[str, Any]]


def product(service: str, usage: str, *tiers: str, **attributes: str) -> Product:
    """A product of a service with the prices of its tiers."""
    return _row(service, usage, tiers, attributes, PUBLISHED)


def _row(service: str, usage: str, tiers: Iterable[str], attributes: Mapping[str, str], published: date) -> Product:
    dimensions = {
        f"tier{index}": {"beginRange": str(index * 1000), "pricePerUnit": {"USD": usd}, "unit": "x"}
        for index, usd in enumerate(tiers)
    }
    row = {
        "product": {"sku": "S", "attributes": {"usagetype": usage, "regionCode": "eu-west-1", **attributes}},
        "terms": {"OnDemand": {"term": {"priceDimensions": dimensions}}},
        "version": f"{published:%Y%m%d}",
        "publicationDate": f"{published}T10:00:00Z",
    }
    return service, row


@dataclass
class FakePricing:
    """Implements GetProducts with its filters, one product per page."""

    products: list[Product]
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


def complete(region: str, published: date, factor: Decimal = Decimal(1)) -> tuple[FakePricing, FakeEc2]:
    """A price list of a day with all that the catalog asks for, at its own prices times a factor, and half for Spot."""
    products = []
    for name in sorted({*QUERIES, *prices.PRICES}):
        if (wanted := query_of(name)) is not None:
            known = prices.PRICES.get(name)
            usd = (known.usd / known.per if known else Decimal("0.1")) * wanted.per * factor
            attributes = {"regionCode": region, **wanted.where}
            products.append(_row(wanted.service, wanted.usage, [f"{usd:f}"], attributes, published))
    spot = []
    for kind, known_type in instances.ALL.items():
        # The catalog has no price of some types, which the list may have.
        usd = (known_type.usd_per_hour or Decimal(50)) * factor
        wanted, attributes = machine(kind), {"regionCode": region, **machine(kind).where}
        products.append(_row(wanted.service, wanted.usage, [f"{usd:f}"], attributes, published))
        spot.append((kind, f"{usd / 2:f}"))
    return FakePricing(products), FakeEc2(spot)
