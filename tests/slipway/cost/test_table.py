"""The table is aligned, adds up, and lists unpriced items."""

import re
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pytest

from slipway.cost import Difference, difference, table
from slipway.cost.difference import changes, of_difference, signed
from slipway.cost.estimates import WIDTH, money, of_estimate
from slipway.engine.project import find
from spec.pricing import Estimate, estimate
from spec.pricing.resource_types import FREE, PRICED
from spec.pricing.services import ALL
from spec.settings import Platform, load, read_stack
from tests.spec.settings.stack import loaded
from tests.support.cases import beside
from tests.support.day import TODAY
from tests.support.reconciliation import disagreements
from tests.support.stacks import NAMES, platform_of, recorded

CASES: Final = beside(__file__)

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
        "prices are for us-east-1; to get those of eu-west-2, run `slipway catalog prices --region eu-west-2`"
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


# The cost difference of a change matches a calculation by hand, to the cent.


CENT = Decimal("0.01")
BASE: dict[str, Any] = {
    "pools.work": {"role": "general", "provisioner": "managed", "instanceTypes": ["m7i.large"], "min": 2, "max": 4},
    "storage.lustre": {"storageCapacity": 1200, "perUnitStorageThroughput": 125},
}


def between(*changed: dict[str, Any]) -> Difference:
    before, after = (estimate(loaded({**BASE, **each}).platform, TODAY) for each in changed)
    return difference(before, after)


# Monthly differences of floor, expected cost and ceiling, by hand from the price list: m7i.large 0.1008 USD an hour for
# 730 hours; gp3 0.08 a GB-month, 100 GB a node; Lustre 0.145 a GB-month at 125 MB/s/TiB, 0.34 at 500; a NAT gateway
# 0.045 an hour and its address 0.005; an interface endpoint 0.01 an hour in each of two zones.
CHANGES: dict[str, tuple[dict[str, Any], list[str]]] = CASES["changes"]


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_costs_what_the_price_list_implies(name: str) -> None:
    change, expected = CHANGES[name]
    month = between({}, change).amounts.month
    amounts = [str(amount.quantize(CENT)) for amount in (month.floor, month.expected, month.ceiling)]
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


# Every resource of the program has a line, is free for a stated reason, or is listed as unpriced.


ROOT = find(Path(__file__)).root
_CONSTRUCTED = re.compile(r"\baws\.([a-z0-9_]+)\.([A-Z][A-Za-z0-9]+)\(")


@pytest.fixture(scope="module", params=NAMES)
def recording(request: pytest.FixtureRequest) -> tuple[Platform, list[tuple[str, Any]]]:
    resources = recorded(request.param)
    return platform_of(request.param), [(each.type, each.inputs.plain) for each in resources]


def test_every_type_of_the_stacks_is_priced_or_free(recording: tuple[Platform, list[tuple[str, Any]]]) -> None:
    platform, resources = recording
    assert not {token for token, _ in resources if token.startswith("aws:")} - PRICED.keys() - FREE.keys()
    # A priced type has a line, or an unpriced item, for each of its services.
    priced = estimate(platform)
    listed = {line.service for line in priced.lines} | {item.what.partition(":")[0] for item in priced.unpriced}
    for token, inputs in resources:
        # A gateway endpoint is free, an interface endpoint is not (aws.amazon.com/privatelink/pricing).
        if inputs.get("vpcEndpointType") != "Gateway":
            assert set(PRICED.get(token, ())) <= listed, token


def test_the_counts_of_the_lines_match_the_program(recording: tuple[Platform, list[tuple[str, Any]]]) -> None:
    platform, resources = recording
    assert disagreements(estimate(platform), resources) == ()


def test_an_additional_or_missing_resource_is_a_disagreement(recording: tuple[Platform, list[tuple[str, Any]]]) -> None:
    platform, resources = recording
    more = [*resources, ("aws:ec2/natGateway:NatGateway", {})]
    (disagreement,) = disagreements(estimate(platform), more)
    assert disagreement.startswith("NAT gateways: gateways: ")
    without = [each for each in resources if each[0] != "aws:kms/key:Key"]
    assert any(each.startswith("KMS: keys: ") for each in disagreements(estimate(platform), without))


def test_no_type_is_in_both_tables() -> None:
    assert not set(PRICED) & set(FREE)
    assert {service for services in PRICED.values() for service in services} <= set(ALL)
    assert all(FREE.values())


def test_every_type_that_a_component_can_create_is_in_a_table() -> None:
    """Also those that no stack enables: schedules of pools, a placement group."""
    known = {(token.split(":")[1].partition("/")[0], token.rpartition(":")[2]) for token in (*PRICED, *FREE)}
    sources = [*(ROOT / "components").rglob("*.py"), *(ROOT / "infra").rglob("*.py")]
    created = {match for path in sources for match in _CONSTRUCTED.findall(path.read_text(encoding="utf-8"))}
    created = {each for each in created if not each[1].endswith("Args") and each[1] != "Provider"}
    assert len(created) > 50
    assert created - known == set(), "add these to PRICED or FREE of spec/pricing/resource_types.py"
