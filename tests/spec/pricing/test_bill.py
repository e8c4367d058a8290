"""The bill that the program outputs: plain values, rounded to the cent."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from spec.pools import resolve_all
from spec.pricing.bill import bill_facts, premium
from spec.settings import load, read_stack
from spec.settings.limits import Limits

STACKS = Path(__file__).resolve().parents[3] / "stacks"
LIMITS = Limits.model_validate_json(
    '{"ceilingUsdPerHour": 60, "premium": {"a100": {"reference": "plan", "until": "2027-06-30"}}}'
)


@pytest.mark.parametrize(("stack", "pools"), [("dev", {"a100", "h100"}), ("prod", {"a100"})])
def test_premium_pools_run_the_most_expensive_types_on_demand(stack: str, pools: set[str]) -> None:
    platform = load(read_stack(stack, STACKS), stack=stack).platform
    assert set(premium(resolve_all(platform).values())) == pools


def test_a_bill_has_plain_values_rounded_to_the_cent() -> None:
    bill = bill_facts(
        floor=Decimal("0.3561"),
        expected=Decimal(5),
        ceiling=Decimal("46.476"),
        pools={"b": Decimal("1.005"), "a": Decimal(2)},
        specs={},
        limits=LIMITS,
    )
    assert bill == {
        "floorUsdPerHour": 0.36,
        "expectedUsdPerHour": 5.0,
        "ceilingUsdPerHour": 46.48,
        "pools": {"a": 2.0, "b": 1.0},
        "premiumOnDemand": [],
        "limits": {
            "ceilingUsdPerHour": 60.0,
            "pools": {},
            "premium": {"a100": {"reference": "plan", "until": "2027-06-30"}},
        },
    }
    assert list(bill["pools"]) == ["a", "b"]
