"""No resource of the program goes without a line, a reason to be free, or a word that it has no price."""

from __future__ import annotations

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
_MADE = re.compile(r"\baws\.([a-z0-9_]+)\.([A-Z][A-Za-z0-9]+)\(")


@pytest.fixture(scope="module", params=NAMES)
def recording(request: pytest.FixtureRequest) -> tuple[Platform, list[tuple[str, Any]]]:
    found = recorded(request.param)
    return platform_of(request.param), [(each.type, each.inputs.plain) for each in found]


def test_every_type_of_the_stacks_is_priced_or_free(recording: tuple[Platform, list[tuple[str, Any]]]) -> None:
    platform, resources = recording
    assert unpriced_types(resources) == ()
    # What is priced has a line or an item without a price, of each of its services.
    found = estimate(platform)
    named = {line.service for line in found.lines} | {item.what.partition(":")[0] for item in found.unpriced}
    for token, inputs in resources:
        # A gateway endpoint is free, an interface endpoint is not (aws.amazon.com/privatelink/pricing).
        if inputs.get("vpcEndpointType") != "Gateway":
            assert set(PRICED.get(token, ())) <= named, token


def test_the_lines_count_what_the_program_makes(recording: tuple[Platform, list[tuple[str, Any]]]) -> None:
    platform, resources = recording
    assert disagreements(estimate(platform), resources) == ()


def test_a_resource_more_than_the_lines_count_is_noticed(recording: tuple[Platform, list[tuple[str, Any]]]) -> None:
    platform, resources = recording
    more = [*resources, ("aws:ec2/natGateway:NatGateway", {})]
    (found,) = disagreements(estimate(platform), more)
    assert found.startswith("NAT gateways: gateways: ")
    without = [each for each in resources if each[0] != "aws:kms/key:Key"]
    assert any(each.startswith("KMS: keys: ") for each in disagreements(estimate(platform), without))


def test_a_type_that_nobody_knows_is_listed_and_not_silently_zero() -> None:
    (item,) = unpriced_types(
        [("aws:lambda/function:Function", {}), ("aws:iam/role:Role", {}), ("kubernetes:core/v1:Pod", {})]
    )
    assert item.what == "aws:lambda/function:Function"


def test_no_type_is_in_both_tables() -> None:
    assert not set(PRICED) & set(FREE)
    assert {service for services in PRICED.values() for service in services} <= set(ALL)
    assert all(FREE.values())


def test_every_type_that_a_component_can_make_is_in_a_table() -> None:
    """Also those that no stack switches on: schedules of pools, a placement group."""
    known = {(token.split(":")[1].partition("/")[0], token.rpartition(":")[2]) for token in (*PRICED, *FREE)}
    sources = [*(ROOT / "components").rglob("*.py"), *(ROOT / "infra").rglob("*.py")]
    made = {match for path in sources for match in _MADE.findall(path.read_text(encoding="utf-8"))}
    made = {each for each in made if not each[1].endswith("Args") and each[1] != "Provider"}
    assert len(made) > 50
    assert made - known == set(), "add these to PRICED or FREE of spec/pricing/resource_types.py"
