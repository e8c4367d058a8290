"""The table is readable, adds up, and says what is not in it."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from slipway.cost import table
from spec.pricing import Estimate, estimate
from tests.spec.settings.stack import loaded
from tests.support.day import TODAY

ABROAD: dict[str, Any] = {
    "account.region": "eu-west-2",
    "network.zones": ["eu-west-2a", "eu-west-2b"],
    "pools.h100.zones": ["eu-west-2a"],
}


def priced(changes: dict[str, Any] | None = None) -> Estimate:
    return estimate(loaded(changes or {}).platform, TODAY)


def parts(changes: dict[str, Any] | None = None) -> list[list[str]]:
    return [part.splitlines() for part in table(priced(changes)).split("\n\n")]


def test_columns_of_lines_are_aligned() -> None:
    lines = parts()[0]
    assert lines[0].split()[:2] == ["service", "what"]
    assert len({len(line) for line in lines}) == 1


def test_the_last_columns_add_up_to_the_total() -> None:
    rows = [line.split() for line in parts()[0][1:]]
    for column in (-1, -2, -3):
        *amounts, total = (Decimal(row[column].replace(",", "")) for row in rows)
        assert abs(sum(amounts) - total) < Decimal("0.001") * len(amounts)


def test_sums_by_group_are_of_a_month_and_end_with_the_whole() -> None:
    whole = priced().amounts.month
    found = [part for part in parts() if part[0].startswith("by ")]
    assert [part[0].split()[1] for part in found] == ["service", "pool"]
    for part in found:
        assert part[-1].startswith("total a month (730 h)")
        assert part[-1].endswith(f"{whole.ceiling:,.2f}")


def test_what_is_not_in_it_comes_after_the_sums() -> None:
    assert all(line.startswith("not in it: ") for line in parts()[-1])
    assert len(parts()[-1]) == len(priced().unpriced)


def test_another_region_is_told_that_the_prices_are_not_its_own() -> None:
    assert parts(ABROAD)[-1] == ["prices are those of us-east-1; eu-west-2 has its own: slipway prices refresh"]
    assert "has its own" not in table(priced())


def test_everything_that_costs_shows_how_much_each_costs() -> None:
    for line in parts()[0][1:-1]:
        assert re.search(r"[1-9]", line.split()[-4] + line.split()[-5]), line
