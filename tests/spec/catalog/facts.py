"""What holds for the catalog's facts on every day: none of it sets a latest date, so that a refresh breaks no test."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from spec.catalog import document, instances
from spec.catalog.prices import Book

EARLIEST: Final = date(2025, 1, 1)
"""The project is younger than an earlier date, and so are the pages that it read."""


def check_sources(loaded: Mapping[str, Any]) -> None:
    """A file has source and date at its top, or beside each entry."""
    prices = {**loaded.get("prices", {}), **loaded.get("instances", {})}
    entries = [*prices.values(), loaded["spot"]] if prices else loaded.values()
    for entry in [loaded] if "source" in loaded else entries:
        found = document.source(entry)
        assert found.text, entry
        assert found.day > EARLIEST, entry


def check_lines(path: Path) -> None:
    """A data file is read in an editor and in diffs, like code."""
    assert max(map(len, path.read_text(encoding="utf-8").splitlines())) <= 120, path.name


def check_book(book: Book) -> None:
    """Prices are above zero with a source, what has none has a reason, and Spot saves what its source lists."""
    for name, price in {**book.prices, **book.on_demand}.items():
        assert price.usd > 0, name
        assert price.source.text, name
        assert price.source.day > EARLIEST, name
    assert not set(book.unpriced) & set(book.prices)
    assert "offered for the requested dates" in book.unpriced["capacity-block"]
    shares = book.spot.types.values()
    assert (book.spot.low, book.spot.high) == (min(shares), max(shares))
    assert all(instances.get(name).gpus for name in book.spot.types)
    assert all("spot" in instances.get(name).markets for name in book.spot.types)


def check_magnitude(book: Book, known: Book) -> None:
    """No price is ten times another day's: it would be one of another unit, such as GiB/s for MiB/s."""
    for name in book.prices.keys() & known.prices.keys():
        one, other = book.prices[name], known.prices[name]
        assert one.unit == other.unit, name
        assert Decimal("0.1") < (one.usd / one.per) / (other.usd / other.per) < 10, name
