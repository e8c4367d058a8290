"""Numbers that pages name are those of the code."""

from __future__ import annotations

import re

import pytest
import yaml

from slipway.sandbox.aws.mappings import MAPPINGS
from slipway.toolchain.tools import KUBERNETES_VERSION
from tests.docs.pages import ROOT

SANDBOX = (ROOT / "docs" / "guides" / "sandbox.md").read_text(encoding="utf-8")


def test_the_types_in_moto_are_counted() -> None:
    assert set(re.findall(r"(\d+) (?:AWS )?types(?: live in|:)", SANDBOX)) == {str(len(MAPPINGS))}


def test_the_version_of_the_api_server_is_that_of_the_toolchain() -> None:
    assert f"the API server is {KUBERNETES_VERSION} whatever" in SANDBOX


def test_the_rules_are_counted_in_the_changelog() -> None:
    rules = re.search(r"## The (\d+) rules", (ROOT / "docs" / "policies.md").read_text(encoding="utf-8"))
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert rules
    assert re.findall(r"policy pack: (\d+) rules", changelog) == [rules[1]]


@pytest.mark.parametrize("stack", ["dev", "staging", "prod"])
def test_the_table_of_stacks_has_their_bounds(stack: str) -> None:
    platform = yaml.safe_load((ROOT / "stacks" / f"Pulumi.{stack}.yaml").read_text())["config"]["slipway:platform"]
    cost, limits = platform["cost"], platform["cost"]["limits"]
    lines = (ROOT / "stacks" / "README.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    column = rows[0].index(stack)
    of = {re.sub(r" \(\d+\)", "", row[0]): row[column] for row in rows}
    assert of["budget a month"].startswith(f"{cost['monthlyBudgetUsd']:,} USD")
    assert of["at most, at least an hour"] == f"{limits['ceilingUsdPerHour']}, {limits['floorUsdPerHour']} USD"
    assert of["zones"] == str(len(platform["network"]["zones"]))
