"""What the resources of any program cost, by list prices: for programs without a stack file, which `slipway cost` can't
price.

Only what is billed by the hour is priced. Data, requests and what a cluster starts by itself come in addition.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from spec import clock, strict_yaml
from spec.catalog import kubernetes, prices
from spec.catalog.prices import Book
from spec.pricing.model import Estimate, Line, Unpriced, priced
from spec.pricing.resource_types import FREE, PRICED

Resource = tuple[str, Mapping[str, Any]]  # type and inputs, with the provider's property names
ROWS: Final[Mapping[str, Any]] = strict_yaml.beside(__file__)
_INPUT: Final = re.compile(r"\{([^}]+)\}")
_MISSING: Final = "?"
_USED: Final = "billed by its use"
_UNKNOWN: Final = "no price of it is known"


def estimate(resources: Iterable[Resource], region: str) -> Estimate:
    """The cost of what is declared, and what of it has no price here."""
    book = prices.book(region)
    items = [item for token, inputs in resources for item in _items(token, inputs, book)]
    unpriced = dict.fromkeys(item for item in items if isinstance(item, Unpriced))
    return Estimate(region, tuple(item for item in items if isinstance(item, Line)), tuple(unpriced))


def _items(token: str, inputs: Mapping[str, Any], book: Book) -> Iterator[Line | Unpriced]:
    rows = [row for row in ROWS.get(token, ()) if _applies(row.get("where", {}), inputs)]
    yield from (_item(row, inputs, book) for row in rows if "price" in row)
    if not rows and token.startswith("aws:") and token not in FREE:
        yield Unpriced(token.rpartition(":")[2], _USED if token in PRICED else _UNKNOWN)


def _item(row: Mapping[str, Any], inputs: Mapping[str, Any], book: Book) -> Line | Unpriced:
    name = _INPUT.sub(lambda match: str(_input(inputs, match[1]) or _MISSING), row["price"])
    if "extended" in row and _is_extended(inputs):
        name = row["extended"]
    price = book.prices.get(name) or book.instance(name)
    counts = [_input(inputs, path) for path in row.get("counts", ())] or [1, 1, 1]
    if price is None or None in counts:
        why = "their type is not said here" if _MISSING in name else f"no price of {name} is in the catalog"
        return Unpriced(row["item"], why)
    times = Decimal(row.get("each", 1))
    for path in row.get("times", ()):
        found = _input(inputs, path)
        times *= len(found) if isinstance(found, list) else Decimal(str(found or 0))
    few, usual, most = (Decimal(int(count)) * times for count in counts)
    return priced(row["service"], row["item"], (price.hourly, price.source), (few, usual, most), "unit", note=name)


def _is_extended(inputs: Mapping[str, Any]) -> bool:
    """Whether a cluster is past the standard support of its version: EKS updates it then only if its policy says so
    (EKS User Guide, "View current cluster upgrade policy", read 2026-11)."""
    if _input(inputs, "upgradePolicy.supportType") == "STANDARD":
        return False
    return kubernetes.support(str(inputs.get("version") or kubernetes.DEFAULT), clock.today()) in ("extended", "ended")


def _applies(where: Mapping[str, Any], inputs: Mapping[str, Any]) -> bool:
    return all(
        (_input(inputs, path) or None) in (value if isinstance(value, list) else [value])
        for path, value in where.items()
    )


def _input(inputs: Mapping[str, Any], path: str) -> Any:
    """A value by its path, such as `scalingConfig.maxSize` or `instanceTypes[0]`; None if it isn't there."""
    found: Any = inputs
    for part in re.findall(r"[^.\[\]]+", path):
        try:
            found = found[int(part)] if isinstance(found, list) else found.get(part)
        except (AttributeError, IndexError, ValueError):
            return None
    return found
