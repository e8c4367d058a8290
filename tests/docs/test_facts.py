"""Versions and limits on the pages are those of the code."""

import re

import pytest
import yaml

from sandbox.cluster.apiserver import emulation
from sandbox.toolchain.tools import KUBERNETES_VERSION
from tests.docs.pages import ROOT, pages

SANDBOX = (ROOT / "docs" / "guides" / "sandbox.md").read_text(encoding="utf-8")
NUMBER = r"(?:\d[\d,]+|five|six|seven|eight|nine|ten|eleven|twelve|a hundred)"
COUNTED = re.compile(
    rf"\b{NUMBER}\s+(?:AWS\s+)?(?:add-ons|alerts|charts|checks|commands|components|dashboards|examples|policies|programs"
    r"|resources|rules|runbooks|settings|tests|types|workflows)\b",
    re.IGNORECASE,
)
DATE = re.compile(r"\b20\d\d-\d\d\b")
RECORDS = ("docs/adr", "docs/notes", "docs/benchmarks.md", "docs/policies.md")
"""Dated as a whole, or generated."""


def test_the_versions_that_the_api_server_emulates_are_those_of_the_toolchain() -> None:
    major, minor, _ = KUBERNETES_VERSION.split(".")
    oldest = emulation(f"{major}.0", KUBERNETES_VERSION).served
    assert f"kube-apiserver {major}.{minor} emulates `cluster.version` from {oldest};" in SANDBOX
    assert f"versions outside of {oldest} to {major}.{minor} |" in SANDBOX


@pytest.mark.parametrize("stack", ["dev", "staging", "prod"])
def test_the_table_of_stacks_has_their_cost_limits(stack: str) -> None:
    platform = yaml.safe_load((ROOT / "stacks" / f"Pulumi.{stack}.yaml").read_text())["config"]["slipway:platform"]
    cost, limits = platform["cost"], platform["cost"]["limits"]
    lines = (ROOT / "stacks" / "README.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    column = rows[0].index(stack)
    of = {re.sub(r" \(\d+\)", "", row[0]): row[column] for row in rows}
    assert of["budget a month"].startswith(f"{cost['monthlyBudgetUsd']:,} USD")
    assert of["ceiling, floor per hour"] == f"{limits['ceilingUsdPerHour']}, {limits['floorUsdPerHour']} USD"
    assert of["zones"] == str(len(platform["network"]["zones"]))


def counts(text: str) -> list[str]:
    """Counts in paragraphs of a text that have no date."""
    return [count for part in text.split("\n\n") if not DATE.search(part) for count in COUNTED.findall(part)]


def test_a_count_without_a_date_is_reported() -> None:
    assert counts("The pack: 107 rules.\n\nSeven\nprograms, two commands.") == ["107 rules", "Seven\nprograms"]
    assert counts("One run (2026-11-21): 421 resources.") == []


def test_pages_have_no_undated_counts() -> None:
    undated = {
        str(page.relative_to(ROOT)): counts(page.read_text(encoding="utf-8"))
        for page in pages()
        if not str(page.relative_to(ROOT)).startswith(RECORDS)
    }
    assert {page: texts for page, texts in undated.items() if texts} == {}, "leave the number out, or date it"
