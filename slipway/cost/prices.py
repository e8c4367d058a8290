"""Updates the catalog's prices from AWS's price list (`slipway catalog prices`); needs AWS credentials.

Usage types are those of the AWS Cost and Usage Report; outside us-east-1 they start with a region code (`EUC1-`).

The same responses give the same file. A price that the list does not have keeps its value, source and date if the
region already has a file; otherwise it is listed as unpriced.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Protocol

import yaml

from spec import strict_yaml
from spec.catalog import instances, prices
from spec.catalog.prices import Book, Price

# How each price of the catalog is found in AWS's price list: by service, usage type and other attributes.


_ENGINES: Final = {"mysql": "MySQL", "postgres": "PostgreSQL"}
_PREFIX: Final = r"(?:[A-Z]{2,4}[0-9]?-|[a-z]{2}(?:-[a-z]+)+-[0-9]-)?"
"""The region code; KMS uses the region's name instead."""


@dataclass(frozen=True, kw_only=True)
class Query:
    """A query for one price: a row of `queries.yaml`, which says what its fields are."""

    service: str
    usage: str
    unit: str
    where: Mapping[str, str] = field(default_factory=dict)
    per: int = 1

    def filters(self, region: str) -> list[dict[str, str]]:
        """Filters of GetProducts, without the usage type: its prefix is not known, so `matches` checks it."""
        fields = {"regionCode": region, **self.where}
        return [{"Type": "TERM_MATCH", "Field": key, "Value": value} for key, value in sorted(fields.items())]

    def matches(self, attributes: Mapping[str, Any]) -> bool:
        """Whether a product of the list matches this query."""
        usage = str(attributes.get("usagetype", ""))
        return re.fullmatch(_PREFIX + re.escape(self.usage), usage) is not None and all(
            attributes.get(key) == value for key, value in self.where.items()
        )


QUERIES: Final[Mapping[str, Query]] = MappingProxyType(
    {name: Query(**row) for name, row in strict_yaml.beside(__file__, "queries").items()}
)
"""Queries by price name in the catalog."""

_DATABASE: Final = re.compile(r"rds-(mysql|postgres)-(.+)")


def query_of(name: str) -> Query | None:
    """The query for a price; None if no single product of the list has it."""
    if instance := _DATABASE.fullmatch(name):
        engine, kind = instance.groups()
        where = {"databaseEngine": _ENGINES[engine], "deploymentOption": "Single-AZ"}
        return Query(service="AmazonRDS", usage=f"InstanceUsage:{kind}", unit="hour", where=where)
    return QUERIES.get(name)


def machine(kind: str) -> Query:
    """The query for an EC2 instance type: Linux, shared tenancy, no preinstalled software, on-demand."""
    where = {
        "instanceType": kind,
        "operatingSystem": "Linux",
        "tenancy": "Shared",
        "preInstalledSw": "NA",
        "capacitystatus": "Used",
        "licenseModel": "No License required",
    }
    return Query(service="AmazonEC2", usage=f"BoxUsage:{kind}", unit="hour", where=where)


# Reads AWS's price list through its API (pricing:GetProducts).


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
    filters = query.filters(region)
    for page in _pages(client.get_products, ServiceCode=query.service, Filters=filters, FormatVersion="aws_v1"):
        yield from map(json.loads, page["PriceList"])


def _pages(operation: Callable[..., Mapping[str, Any]], **arguments: Any) -> Iterator[Mapping[str, Any]]:
    page = operation(**arguments)
    yield page
    while token := page.get("NextToken"):
        page = operation(**arguments, NextToken=token)
        yield page


def _price(product: Mapping[str, Any]) -> Decimal | None:
    """On-demand price of the first tier that is not free."""
    tiers = [
        (Decimal(dimension.get("beginRange", "0")), Decimal(dimension["pricePerUnit"]["USD"]))
        for term in product["terms"].get("OnDemand", {}).values()
        for dimension in term["priceDimensions"].values()
        if "USD" in dimension["pricePerUnit"]
    ]
    return next((usd for _, usd in sorted(tiers) if usd > 0), None)


# Current Spot savings, from EC2's Spot price history (ec2:DescribeSpotPriceHistory).


DAYS: Final = 7  # days of history: prices change within a week, and the range must cover that
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
    if not kinds:
        return
    span = {"StartTime": now - timedelta(days=DAYS), "EndTime": now}
    linux = {"InstanceTypes": kinds, "ProductDescriptions": ["Linux/UNIX"]}
    for page in _pages(client.describe_spot_price_history, **linux, **span):
        yield from page["SpotPriceHistory"]


# Generates a region's price file from AWS's price list and Spot price history.


HEAD: Final = """\
# Prices in USD for `per` units (default: one), on-demand, without free tiers and taxes; the first tier if there are
# several. Generated by `slipway catalog prices`. Anything without a price here is reported as unpriced, never as zero.
"""
PER: Final = {"request": 1_000_000}  # units of one price in the file, where the price of one is too small to read


@dataclass(frozen=True, kw_only=True)
class Refreshed:
    """The new prices of a region."""

    region: str
    document: Mapping[str, Any]  # content of the price file
    taken: tuple[str, ...]  # names of prices taken from the list
    kept: Mapping[str, str]  # names of prices kept from the current file, with the reason
    missing: Mapping[str, str]  # names without a price, with the reason

    @property
    def text(self) -> str:
        """The text of the price file."""
        return HEAD + yaml.safe_dump(dict(self.document), sort_keys=False, width=120, allow_unicode=True)

    @property
    def name(self) -> str:
        """The file's name in the catalog's folder."""
        return "prices.yaml" if self.region == prices.REGION else f"prices-{self.region}.yaml"

    def write(self, folder: Path) -> Path:
        """Write the price file; returns its path."""
        path = folder / self.name
        path.write_text(self.text, encoding="utf-8")
        return path


def refresh(pricing: Pricing, ec2: Ec2, region: str, now: datetime, kinds: Iterable[str] | None = None) -> Refreshed:
    """Query every price that the catalog names.

    Args:
        pricing: boto3's `pricing` client.
        ec2: boto3's `ec2` client of the region.
        now: End of the Spot price history.
        kinds: Instance types; by default all of the catalog.
    """
    book = prices.book(region)
    own = book if book.region == region else None
    known = {*QUERIES, *prices.PRICES, *filter(query_of, prices.UNPRICED), *(own.prices if own else ())}
    names = sorted(known)
    entries: dict[str, Any] = {}
    taken, kept, missing = [], {}, {}
    for name in names:
        answer = _ask(pricing, name, region)
        if isinstance(answer, Found):
            query = query_of(name)
            entries[name] = _entry(answer, query.unit if query else "")
            taken.append(name)
        elif own is not None and name in own.prices:
            entries[name], kept[name] = _kept(own.prices[name]), answer
        else:
            missing[name] = answer
    machines = _machines(pricing, region, sorted(instances.ALL if kinds is None else kinds))
    saved = _spot(ec2, machines, now, own or prices.HERE)
    document = {
        "region": region,
        "prices": entries,
        "instances": machines,
        "unpriced": {"capacity-block": prices.UNPRICED["capacity-block"], **missing},
        "spot": saved,
    }
    return Refreshed(region=region, document=document, taken=tuple(taken), kept=kept, missing=missing)


def _ask(pricing: Pricing, name: str, region: str) -> Found | str:
    query = query_of(name)
    if query is None:
        return "no single product of AWS's price list has it"
    return find(pricing, query, region)


def _machines(pricing: Pricing, region: str, kinds: Iterable[str]) -> dict[str, Any]:
    answers = {kind: find(pricing, machine(kind), region) for kind in kinds}
    return {kind: _entry(answer, "hour") for kind, answer in answers.items() if isinstance(answer, Found)}


def _spot(ec2: Ec2, machines: Mapping[str, Any], now: datetime, before: Book) -> dict[str, Any]:
    gpus = {kind: Decimal(entry["usd"]) for kind, entry in machines.items() if instances.ALL[kind].gpus}
    saved = savings(ec2, gpus, now)
    if not saved:
        return {
            "low": str(before.spot.low),
            "high": str(before.spot.high),
            "types": {kind: str(share) for kind, share in sorted(before.spot.types.items())},
            "source": before.spot.source.text,
            "date": before.spot.source.day,
        }
    return {
        "low": str(min(saved.values())),
        "high": str(max(saved.values())),
        "types": {kind: str(share) for kind, share in saved.items()},
        "source": f"EC2 DescribeSpotPriceHistory, Linux/UNIX, averages of {DAYS} days and all zones",
        "date": now.date(),
    }


def _entry(found: Found, unit: str) -> dict[str, Any]:
    per = PER.get(unit, 1)
    return _document(found.usd * per, unit, per, found.source, found.day)


def _kept(price: Price) -> dict[str, Any]:
    return _document(price.usd, price.unit, price.per, price.source.text, price.source.day)


def _document(usd: Decimal, unit: str, per: int, source: str, day: date) -> dict[str, Any]:
    number = f"{usd:f}"
    whole = number.rstrip("0").rstrip(".") if "." in number else number
    entry: dict[str, Any] = {"usd": whole, "unit": unit, "source": source, "date": day}
    return entry if per == 1 else {"usd": whole, "per": per, "unit": unit, "source": source, "date": day}
