"""The table is readable, adds up, and says what is not in it."""

from __future__ import annotations

import re
from typing import Any

from slipway.cost import estimate, table
from tests.infra.config.stack import TODAY, loaded


def text(changes: dict[str, Any] | None = None) -> str:
    return table(estimate(loaded(changes or {}).platform, TODAY))


def test_columns_are_aligned_and_lines_fit_a_terminal() -> None:
    lines = [line for line in text().splitlines() if not line.startswith("not in it")]
    assert lines[0].split() == ["what", "count", "USD/h", "each", "price", "of", "least", "USD/h", "most", "USD/h"]
    assert len({len(line) for line in lines}) == 1
    assert len(lines[0]) <= 120


def test_the_last_columns_add_up_to_the_total() -> None:
    rows = [line.split() for line in text().splitlines()]
    amounts = [
        (float(row[-2].replace(",", "")), float(row[-1].replace(",", ""))) for row in rows[1:] if _is_amount(row)
    ]
    *parts, total, month = amounts
    assert abs(sum(least for least, _ in parts) - total[0]) < 0.001 * len(parts)
    assert abs(sum(most for _, most in parts) - total[1]) < 0.001 * len(parts)
    assert abs(month[0] - total[0] * 730) < 1


def _is_amount(row: list[str]) -> bool:
    return bool(re.fullmatch(r"[\d,]+\.\d{3}", row[-1]))


def test_what_is_not_in_it_comes_last() -> None:
    assert text().splitlines()[-1].startswith("not in it: ")


def test_another_region_is_told_that_the_prices_are_not_its_own() -> None:
    abroad: dict[str, Any] = {
        "account.region": "eu-west-2",
        "network.zones": ["eu-west-2a", "eu-west-2b"],
        "pools.h100.zones": ["eu-west-2a"],
    }
    assert text(abroad).splitlines()[-1] == "prices are those of us-east-1; eu-west-2 has its own"
    assert "has its own" not in text()


def test_nothing_that_costs_is_shown_as_nothing() -> None:
    for line in text().splitlines()[1:]:
        if not line.startswith("not in it"):
            assert not line.endswith(" 0.000"), line
