"""What the resources of any program cost."""

import re
from decimal import Decimal
from typing import Any

import pytest

from sandbox.aws.schema import schema
from slipway.cost.declared import ROWS, estimate
from spec.catalog import prices
from spec.pricing import services
from spec.pricing.resource_types import FREE

HERE = prices.REGION
CASES: dict[str, tuple[str, dict[str, Any], dict[str, tuple[str, int, int]]]] = {
    "nodes from their minimum to their maximum": (
        "aws:eks/nodeGroup:NodeGroup",
        {"instanceTypes": ["g6.xlarge"], "scalingConfig": {"minSize": 1, "desiredSize": 2, "maxSize": 4}},
        {"nodes": ("g6.xlarge", 1, 4)},
    ),
    "a node of a type that no pool can have": (
        "aws:eks/nodeGroup:NodeGroup",
        {"instanceTypes": ["t3.medium"], "scalingConfig": {"minSize": 0, "desiredSize": 0, "maxSize": 1}},
        {"nodes": ("t3.medium", 0, 1)},
    ),
    "an endpoint in each subnet": (
        "aws:ec2/vpcEndpoint:VpcEndpoint",
        {"vpcEndpointType": "Interface", "subnetIds": ["a", "b"]},
        {"interface endpoints": ("interface-endpoint", 2, 2)},
    ),
    "a standby and storage": (
        "aws:rds/instance:Instance",
        {"engine": "postgres", "instanceClass": "db.t4g.medium", "multiAz": True, "allocatedStorage": 20,
            "storageType": "gp3"},
        {"databases": ("rds-postgres-db.t4g.medium", 2, 2), "storage of databases": ("rds-gp3", 20, 20)},
    ),
    "a file system by its size": (
        "aws:fsx/lustreFileSystem:LustreFileSystem",
        {"deploymentType": "PERSISTENT_2", "perUnitStorageThroughput": 250, "storageCapacity": 2400},
        {"Lustre": ("fsx-lustre-persistent-2-250", 2400, 2400)},
    ),
    "a balancer of the default kind": (
        "aws:lb/loadBalancer:LoadBalancer", {"loadBalancerType": ""}, {"application": ("alb", 1, 1)}
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_resource_has_the_price_of_the_catalog(name: str) -> None:
    token, inputs, expected = CASES[name]
    found = estimate([(token, inputs)], HERE)
    assert found.unpriced == ()
    assert {line.item: (line.note, int(line.minimum), int(line.maximum)) for line in found.lines} == expected
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
