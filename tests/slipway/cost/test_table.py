"""The table is aligned, adds up, and lists unpriced items."""

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from slipway.cost import difference, table
from slipway.cost.difference import changes
from slipway.cost.estimates import WIDTH, money
from slipway.engine.project import find
from spec.pricing import Estimate, estimate
from spec.settings import load, read_stack
from tests.spec.settings.stack import loaded
from tests.support.day import TODAY

OTHER_REGION: dict[str, Any] = {
    "account.region": "eu-west-2",
    "account.zoneIds": {"eu-west-2a": "euw2-az2", "eu-west-2b": "euw2-az3"},
    "network.zones": ["eu-west-2a", "eu-west-2b"],
    "pools.h100.zones": ["eu-west-2a"],
}


def priced(changes: dict[str, Any] | None = None) -> Estimate:
    return estimate(loaded(changes or {}).platform, TODAY)


def parts(changes: dict[str, Any] | None = None) -> list[list[str]]:
    return [part.splitlines() for part in table(priced(changes), wide=True).split("\n\n")]


def test_columns_of_lines_are_aligned() -> None:
    lines = parts()[0]
    assert lines[0].split()[:2] == ["service", "item"]
    assert len({len(line) for line in lines}) == 1


def test_the_last_columns_add_up_to_the_total() -> None:
    rows = [line.split() for line in parts()[0][1:]]
    for column in (-1, -2, -3):
        *amounts, total = (Decimal(row[column].replace(",", "")) for row in rows)
        assert abs(sum(amounts) - total) < Decimal("0.001") * len(amounts)


def test_totals_by_group_are_monthly_and_end_with_the_grand_total() -> None:
    whole = priced().amounts.month
    groups = [part for part in parts() if part[0].startswith("by ")]
    assert [part[0].split()[1] for part in groups] == ["service", "pool"]
    for part in groups:
        assert part[-1].startswith("total a month (730 h)")
        assert part[-1].endswith(f"{whole.ceiling:,.2f}")


def test_unpriced_items_come_after_the_totals() -> None:
    assert all(line.startswith("unpriced: ") for line in parts()[-1])
    assert len(parts()[-1]) == len(priced().unpriced)


def test_prices_of_another_region_are_noted() -> None:
    assert parts(OTHER_REGION)[-1] == [
        "prices are for us-east-1; to get those of eu-west-2, run `slipway prices refresh --region eu-west-2`"
    ]
    assert "prices are for" not in table(priced())


def test_every_line_shows_a_unit_price() -> None:
    for line in parts()[0][1:-1]:
        assert re.search(r"[1-9]", line.split()[-4] + line.split()[-5]), line


@pytest.mark.parametrize("stack", ["dev", "staging", "prod"])
def test_without_wide_every_line_has_at_most_80_columns(stack: str) -> None:
    platform = load(read_stack(stack, find(Path(__file__)).stacks), stack=stack, today=TODAY).platform
    whole = estimate(platform, TODAY)
    text = table(whole)
    assert max(map(len, text.splitlines())) <= WIDTH
    lines, *_ = text.split("\n\n")
    head, *rows, total = lines.splitlines()
    assert head.split()[-4:] == ["floor", "USD/h", "expected", "ceiling"]
    assert len(rows) == len(whole.lines)
    for line, row in zip(whole.lines, rows, strict=True):
        assert row.startswith(line.service)
        assert row.split()[-1] == money(line.amounts.ceiling)
    assert total.split()[-1] == money(whole.amounts.ceiling)
    assert "slipway cost --wide" in text


def test_a_difference_fits_80_columns_and_wide_adds_the_counts() -> None:
    result = difference(priced(), priced({"pools.a100.max": 3, "pools.h100.max": 4}))
    narrow, wide = changes(result, "main"), changes(result, "main", wide=True)
    assert max(map(len, narrow.splitlines())) <= WIDTH
    assert "before" in wide.split("\n\n")[1].splitlines()[0]
    amounts = [line.split()[-3:] for line in narrow.split("\n\n")[1].splitlines()[1:]]
    assert amounts == [line.split()[-3:] for line in wide.split("\n\n")[1].splitlines()[1:]]
