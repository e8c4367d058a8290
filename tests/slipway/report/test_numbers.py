"""Number formats of the report."""

from __future__ import annotations

from decimal import Decimal

import pytest

from slipway.report.numbers import cents, counted, signed, span, usd, usd_span


@pytest.mark.parametrize(
    ("amount", "whole", "exact", "difference"),
    [
        ("0", "$0", "$0.00", "$0.00"),
        ("0.004", "<$1", "$0.00", "$0.00"),
        ("0.40", "<$1", "$0.40", "+$0.40"),
        ("1234.565", "$1,235", "$1,234.57", "+$1,234.57"),
        ("-1234.5", "−$1,235", "−$1,234.50", "−$1,234.50"),  # noqa: RUF001 - a minus, as wide as a plus
    ],
)
def test_amounts_are_formatted(amount: str, whole: str, exact: str, difference: str) -> None:
    value = Decimal(amount)
    assert (usd(value), cents(value), signed(value)) == (whole, exact, difference)


def test_a_range_with_equal_ends_is_one_number() -> None:
    assert (span(4, 4), span(0, 4)) == ("4", "0–4")  # noqa: RUF001 - a dash between numbers
    assert usd_span(Decimal("0.3"), Decimal("1.834")) == "$0.30–1.83"  # noqa: RUF001 - as above
    assert (usd_span(Decimal(2), Decimal(2)), usd_span(None, None)) == ("$2.00", "")


def test_nouns_are_pluralized() -> None:
    assert (counted(1, "pool"), counted(2, "pool"), counted(0, "property", "properties")) == (
        "1 pool",
        "2 pools",
        "0 properties",
    )
