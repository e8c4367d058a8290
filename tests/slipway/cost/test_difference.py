"""The cost difference of a change matches a calculation by hand, to the cent."""

from decimal import Decimal
from typing import Any

import pytest

from slipway.cost import Difference, difference
from slipway.cost.difference import changes, of_difference, signed
from slipway.cost.estimates import of_estimate
from spec.pricing import estimate
from tests.spec.settings.stack import loaded
from tests.support.day import TODAY

CENT = Decimal("0.01")
BASE: dict[str, Any] = {
    "pools.work": {
        "role": "general",
        "provisioner": "managed",
        "instanceTypes": ["m7i.large"],
        "min": 2,
        "max": 4,
    },
    "storage.lustre": {"storageCapacity": 1200, "perUnitStorageThroughput": 125},
}


def between(*changed: dict[str, Any]) -> Difference:
    before, after = (estimate(loaded({**BASE, **each}).platform, TODAY) for each in changed)
    return difference(before, after)


# Monthly differences of floor, expected cost and ceiling, by hand from the price list: m7i.large 0.1008 USD an hour for
# 730 hours; gp3 0.08 a GB-month, 100 GB a node; Lustre 0.145 a GB-month at 125 MB/s/TiB, 0.34 at 500; a NAT gateway
# 0.045 an hour and its address 0.005; an interface endpoint 0.01 an hour in each of two zones.
CASES: dict[str, tuple[dict[str, Any], tuple[str, str, str]]] = {
    "a maximum of two nodes more": ({"pools.work.max": 6}, ("0.00", "0.00", "163.17")),
    "a minimum of one node more": ({"pools.work.min": 3}, ("81.58", "81.58", "0.00")),
    "volumes of 150 GB": ({"pools.work.disk": {"sizeGib": 150}}, ("8.00", "8.00", "16.00")),
    "Lustre of double size": ({"storage.lustre.storageCapacity": 2400}, ("174.00", "174.00", "174.00")),
    "Lustre of 500 MB/s": ({"storage.lustre.perUnitStorageThroughput": 500}, ("234.00", "234.00", "234.00")),
    "a gateway in each zone": ({"network.nat": "per-zone"}, ("36.50", "36.50", "36.50")),
    "an endpoint": ({"network.endpoints": ["sts"]}, ("14.60", "14.60", "14.60")),
    "use on weekends only": (
        # 2 nodes more than the minimum, 24 hours on each of Saturday and Sunday: 48 of 168 hours.
        {"cost.usage.pools.work": {"nodes": 4, "hoursPerWeekday": 0}},
        ("0.00", "46.62", "0.00"),
    ),
    "data through NAT": ({"cost.usage.natGib": 1000}, ("0.00", "45.00", "45.00")),
}


@pytest.mark.parametrize("name", CASES)
def test_a_change_costs_what_the_price_list_implies(name: str) -> None:
    change, expected = CASES[name]
    month = between({}, change).amounts.month
    amounts = tuple(str(amount.quantize(CENT)) for amount in (month.floor, month.expected, month.ceiling))
    assert amounts == expected


def test_reverting_a_change_saves_as_much_as_it_cost() -> None:
    change, revert = between({}, {"network.nat": "per-zone"}), between({"network.nat": "per-zone"}, {})
    assert change.amounts.ceiling == -revert.amounts.ceiling > 0


def test_only_changed_lines_are_listed_largest_first() -> None:
    found = between(
        {}, {"network.nat": "per-zone", "storage.lustre.perUnitStorageThroughput": 500, "pools.work.max": 5}
    )
    assert [change.line.item for change in found.changes] == [
        "Lustre file system",
        "gateways",
        "of NAT gateways",
        "nodes",
        "volumes of nodes",
    ]


def test_the_lines_add_up_to_the_difference() -> None:
    found = between(
        {}, {"network.nat": "per-zone", "storage.lustre.perUnitStorageThroughput": 500, "pools.work.max": 5}
    )
    for name in ("floor", "expected", "ceiling"):
        total = sum((getattr(change.amounts, name) for change in found.changes), Decimal(0))
        assert abs(total - getattr(found.amounts, name)) < Decimal("1e-15")


def test_a_removed_item_has_no_line_after_the_change() -> None:
    (gone,) = (change for change in between({}, {"network.nat": "none", **ISOLATED}).changes if _is_nat(change.line))
    assert gone.before is not None
    assert gone.after is None
    assert gone.amounts.month.ceiling.quantize(CENT) == Decimal("-32.85")


ISOLATED = {"network.endpoints": ["ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "logs", "sts", "sqs"]}


def _is_nat(line: Any) -> bool:
    return bool(line.item == "gateways")


def test_items_that_become_priced_or_unpriced_are_listed() -> None:
    found = between({}, {"cost.usage.natGib": 10})
    assert [item.what for item in found.gone] == ["NAT gateways: data through NAT gateways"]
    assert [item.what for item in between({"cost.usage.natGib": 10}, {}).new] == [
        "NAT gateways: data through NAT gateways"
    ]


def test_the_table_has_signed_lines_and_totals() -> None:
    text = changes(between({}, {"network.nat": "per-zone"}), "main")
    rows = {row.split("  ")[0]: row for row in text.splitlines()}
    assert rows["NAT gateways"].endswith("+32.85     +32.85      +32.85") or "+32.85" in rows["NAT gateways"]
    assert rows["difference"].split()[1:] == ["+36.50", "+36.50", "+36.50"]
    assert "Compared with main" in text
    assert "today's prices" in text


def test_no_difference_is_one_sentence() -> None:
    assert changes(between({}, {}), "main") == "The cost does not differ from main.\n"


@pytest.mark.parametrize(
    ("amount", "text"), [("1234.5", "+1,234.50"), ("-0.004", "0.00"), ("0", "0.00"), ("-12.344", "-12.34")]
)
def test_amounts_are_signed(amount: str, text: str) -> None:
    assert signed(Decimal(amount)) == text


def test_amounts_in_json_are_text_to_the_cent() -> None:
    found = between({}, {"network.nat": "per-zone"})
    document = of_difference(found, "main")
    assert document["usdPerMonth"] == {"floor": "36.50", "expected": "36.50", "ceiling": "36.50"}
    assert {row["item"] for row in document["changes"]} == {"gateways", "of NAT gateways"}
    whole = of_estimate(found.after)
    assert whole["usdPerMonth"]["floor"] == str(found.after.amounts.month.floor.quantize(CENT))
    assert len(whole["lines"]) == len(found.after.lines)
    assert all(line["source"]["date"] for line in whole["lines"])
