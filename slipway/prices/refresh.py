"""A region's file of prices, made anew from AWS's price list and Spot history.

The same answers give the same file. What the list does not tell stays as it is where the region has a file already,
with its own source and day, and is listed as unpriced where it has none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import yaml

from slipway.prices import pricelist, queries, spot
from slipway.prices.pricelist import Found, Pricing
from spec.catalog import instances, prices
from spec.catalog.prices import Book, Price

HEAD: Final = """\
# Prices in USD for `per` units (one where not given), on-demand, without free tiers and taxes; the first tier where
# there are several. Made by `slipway prices refresh`. What is not here is shown as such, never counted as zero.
"""
PER: Final = {"request": 1_000_000}
"""Units of one price in the file, where the price of one is too small to read."""


@dataclass(frozen=True, kw_only=True)
class Refreshed:
    """A region's prices as they are to be written.

    Attributes:
        region: The region.
        document: What the file holds.
        taken: Names whose price is the list's.
        kept: Names whose price is the file's own, by why.
        missing: Names without a price, by why.
    """

    region: str
    document: Mapping[str, Any]
    taken: tuple[str, ...]
    kept: Mapping[str, str]
    missing: Mapping[str, str]

    @property
    def text(self) -> str:
        """The file."""
        return HEAD + yaml.safe_dump(dict(self.document), sort_keys=False, width=120, allow_unicode=True)

    @property
    def name(self) -> str:
        """Its name in the catalog's folder."""
        return "prices.yaml" if self.region == prices.REGION else f"prices-{self.region}.yaml"

    def write(self, folder: Path) -> Path:
        """Write the file; its path."""
        path = folder / self.name
        path.write_text(self.text, encoding="utf-8")
        return path


def refresh(
    pricing: Pricing, ec2: spot.Ec2, region: str, now: datetime, kinds: Iterable[str] | None = None
) -> Refreshed:
    """Ask for every price that the catalog has a name for.

    Args:
        pricing: boto3's `pricing` client.
        ec2: boto3's `ec2` client of the region.
        region: Region whose prices are wanted.
        now: Moment that Spot prices are looked back from.
        kinds: Instance types; all of the catalog where not given.
    """
    book = prices.book(region)
    own = book if book.region == region else None
    names = sorted({*queries.QUERIES, *prices.PRICES, *(own.prices if own else ())})
    found: dict[str, Any] = {}
    taken, kept, missing = [], {}, {}
    for name in names:
        answer = _ask(pricing, name, region)
        if isinstance(answer, Found):
            query = queries.query(name)
            found[name] = _entry(answer, query.unit if query else "")
            taken.append(name)
        elif own is not None and name in own.prices:
            found[name], kept[name] = _kept(own.prices[name]), answer
        else:
            missing[name] = answer
    machines = _machines(pricing, region, sorted(instances.ALL if kinds is None else kinds))
    saved = _spot(ec2, machines, now, own or prices.HERE)
    document = {
        "region": region,
        "prices": found,
        "instances": machines,
        "unpriced": {"capacity-block": prices.UNPRICED["capacity-block"], **missing},
        "spot": saved,
    }
    return Refreshed(region=region, document=document, taken=tuple(taken), kept=kept, missing=missing)


def _ask(pricing: Pricing, name: str, region: str) -> Found | str:
    query = queries.query(name)
    if query is None:
        return "AWS's price list has no one place for it"
    return pricelist.find(pricing, query, region)


def _machines(pricing: Pricing, region: str, kinds: Iterable[str]) -> dict[str, Any]:
    answers = {kind: pricelist.find(pricing, queries.machine(kind), region) for kind in kinds}
    return {kind: _entry(answer, "hour") for kind, answer in answers.items() if isinstance(answer, Found)}


def _spot(ec2: spot.Ec2, machines: Mapping[str, Any], now: datetime, before: Book) -> dict[str, Any]:
    gpus = {kind: Decimal(entry["usd"]) for kind, entry in machines.items() if instances.ALL[kind].gpus}
    saved = spot.savings(ec2, gpus, now)
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
        "source": f"EC2 DescribeSpotPriceHistory, Linux/UNIX, averages of {spot.DAYS} days and all zones",
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
