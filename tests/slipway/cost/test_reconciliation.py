"""Every resource of the program has a line, is free for a stated reason, or is listed as unpriced."""

import re
from pathlib import Path
from typing import Any

import pytest

from slipway.cost.reconciliation import disagreements, unpriced_types
from slipway.engine.project import find
from spec.pricing import estimate
from spec.pricing.resource_types import FREE, PRICED
from spec.pricing.services import ALL
from spec.settings import Platform
from tests.support.stacks import NAMES, platform_of, recorded

ROOT = find(Path(__file__)).root
_CONSTRUCTED = re.compile(r"\baws\.([a-z0-9_]+)\.([A-Z][A-Za-z0-9]+)\(")


@pytest.fixture(scope="module", params=NAMES)
def recording(request: pytest.FixtureRequest) -> tuple[Platform, list[tuple[str, Any]]]:
    resources = recorded(request.param)
    return platform_of(request.param), [(each.type, each.inputs.plain) for each in resources]


def test_every_type_of_the_stacks_is_priced_or_free(recording: tuple[Platform, list[tuple[str, Any]]]) -> None:
    platform, resources = recording
    assert unpriced_types(resources) == ()
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


def test_an_unknown_type_is_listed_as_unpriced() -> None:
    (item,) = unpriced_types(
        [("aws:lambda/function:Function", {}), ("aws:iam/role:Role", {}), ("kubernetes:core/v1:Pod", {})]
    )
    assert item.what == "aws:lambda/function:Function"


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
