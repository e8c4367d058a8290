"""Reads AWS's price list through its API (pricing:GetProducts)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Protocol

from slipway.prices.queries import Query


class Pricing(Protocol):
    """The methods used of boto3's `pricing` client."""

    def get_products(self, **arguments: Any) -> Mapping[str, Any]:
        """One page of products."""


@dataclass(frozen=True)
class Found:
    """A price from the list, per unit of the catalog."""

    usd: Decimal
    source: str
    day: date


def find(client: Pricing, query: Query, region: str) -> Found | str:
    """The unique price for a query, or the reason why there is none.

    The price is that of the first tier that is not free: free tiers apply per account, not per stack.
    """
    products = [one for one in _products(client, query, region) if query.matches(one["product"]["attributes"])]
    by_price = {price: one for one in products if (price := _price(one)) is not None}
    if not by_price:
        return f"AWS's price list has no {query.usage} in {region}"
    if len(by_price) > 1:
        return f"AWS's price list has {len(by_price)} prices for {query.usage} in {region}"
    (price, product), *_ = by_price.items()
    usage = product["product"]["attributes"]["usagetype"]
    source = f"AWS price list {query.service}, {region}, {usage}, version {product['version']}"
    return Found(price / query.per, source, date.fromisoformat(product["publicationDate"][:10]))


def _products(client: Pricing, query: Query, region: str) -> Iterator[Mapping[str, Any]]:
    arguments: dict[str, Any] = {
        "ServiceCode": query.service,
        "Filters": query.filters(region),
        "FormatVersion": "aws_v1",
    }
    while True:
        page = client.get_products(**arguments)
        for text in page["PriceList"]:
            yield json.loads(text)
        if not page.get("NextToken"):
            return
        arguments["NextToken"] = page["NextToken"]


def _price(product: Mapping[str, Any]) -> Decimal | None:
    """On-demand price of the first tier that is not free."""
    tiers = [
        (Decimal(dimension.get("beginRange", "0")), Decimal(dimension["pricePerUnit"]["USD"]))
        for term in product["terms"].get("OnDemand", {}).values()
        for dimension in term["priceDimensions"].values()
        if "USD" in dimension["pricePerUnit"]
    ]
    return next((usd for _, usd in sorted(tiers) if usd > 0), None)
