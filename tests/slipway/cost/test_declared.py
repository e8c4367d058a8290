"""What the resources of any program cost."""

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from sandbox.aws.schema import schema
from slipway.cost.declared import ROWS, estimate
from spec.catalog import prices
from spec.pricing import services
from spec.pricing.resource_types import FREE
from spec.strict_yaml import read

HERE = prices.REGION
CASES = read(Path(__file__).with_name("declared.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", [pytest.param(row, id=row["what"]) for row in CASES])
def test_a_resource_has_the_price_of_the_catalog(row: dict[str, Any]) -> None:
    found = estimate([(row["type"], row["inputs"])], HERE)
    assert found.unpriced == ()
    assert {line.item: [line.note, int(line.minimum), int(line.maximum)] for line in found.lines} == row["expected"]
    book = prices.book(HERE)
    for line in found.lines:
        price = book.prices.get(line.note) or book.instance(line.note)
        assert price is not None
        assert line.usual == price.hourly > Decimal(0)


def test_what_has_no_price_is_named_and_what_is_free_is_not() -> None:
    found = estimate(
        [
            ("aws:eks/nodeGroup:NodeGroup", {"scalingConfig": {"minSize": 1, "desiredSize": 1, "maxSize": 1}}),
            ("aws:ec2/instance:Instance", {"instanceType": "t99.large"}),
            ("aws:s3/bucket:Bucket", {}),
            ("aws:iam/role:Role", {}),
            ("aws:ec2/vpcEndpoint:VpcEndpoint", {"vpcEndpointType": "Gateway"}),
            ("aws:ecs/service:Service", {}),
            ("kubernetes:apps/v1:Deployment", {}),
        ],
        HERE,
    )
    assert [(item.what, item.why) for item in found.unpriced] == [
        ("nodes", "their type is not said here"),
        ("instances", "no price of t99.large is in the catalog"),
        ("Bucket", "billed by its use"),
        ("Service", "no price of it is known"),
    ]
    assert found.floor == 0


def test_rows_name_services_of_the_bill_and_no_free_type() -> None:
    assert {row["service"] for rows in ROWS.values() for row in rows if "price" in row} <= set(services.ALL)
    assert not set(ROWS) & set(FREE)


@pytest.mark.parametrize("token", ROWS)
def test_a_row_reads_outputs_of_its_type(token: str) -> None:
    known = schema(token)
    assert known is not None
    for row in ROWS[token]:
        read = [*row.get("where", {}), *row.get("times", ()), *row.get("counts", ())]
        assert {re.split(r"[.\[]", path)[0] for path in read} <= set(known.outputs)
