"""Reading of AWS's price list through its API (pricing:GetProducts), product by product."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Protocol

from slipway.prices.queries import Query


class Pricing(Protocol):
    """The part of boto3's `pricing` client that is used."""

    def get_products(self, **arguments: Any) -> Mapping[str, Any]:
        """One page of products."""


@dataclass(frozen=True)
class Found:
    """A price of the list, for one unit of the catalog."""

    usd: Decimal
    source: str
    day: date


def find(client: Pricing, query: Query, region: str) -> Found | str:
    """The one price of a query, or why there is none.

    The first tier that costs anything is taken: free tiers are an account's and not a stack's.
    """
    rows = [row for row in _products(client, query, region) if query.matches(row["product"]["attributes"])]
    found = {price: row for row in rows if (price := _price(row)) is not None}
    if not found:
        return f"AWS's price list has no {query.usage} in {region}"
    if len(found) > 1:
        return f"AWS's price list has {len(found)} prices of {query.usage} in {region}"
    (price, row), *_ = found.items()
    usage = row["product"]["attributes"]["usagetype"]
    source = f"AWS price list {query.service}, {region}, {usage}, version {row['version']}"
    return Found(price / query.per, source, date.fromisoformat(row["publicationDate"][:10]))


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


def _price(row: Mapping[str, Any]) -> Decimal | None:
    """On-demand price of the first tier that is not free."""
    tiers = [
        (Decimal(dimension.get("beginRange", "0")), Decimal(dimension["pricePerUnit"]["USD"]))
        for term in row["terms"].get("OnDemand", {}).values()
        for dimension in term["priceDimensions"].values()
        if "USD" in dimension["pricePerUnit"]
    ]
    return next((usd for _, usd in sorted(tiers) if usd > 0), None)
