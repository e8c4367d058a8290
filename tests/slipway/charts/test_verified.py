"""No value of ours is one that its chart does not know: held against the record, so that no chart is needed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pulumi
import pytest

from components.addons import registry
from slipway.charts import check, keys, uses, variants, verified
from slipway.charts.pull import pinned
from slipway.charts.uses import Use
from spec.settings import load, read_stack
from tests.components.pools.samples import platform
from tests.support.context import POOLS, addon_context
from tests.support.generated import CHARTS
from tests.support.mocks import providers, run

RECORD = verified.load()
RECORDED = f"with the charts at hand (SLIPWAY_CHARTS) run `{CHARTS}`"
NOT_PUBLISHED_HERE = {"gateway-crds-helm", "knative-operator"}
"""Charts that nobody had at hand when the record was made; docs/addons says so of both."""


@pytest.fixture(scope="module")
def every_use() -> list[Use]:
    """Releases of every add-on over its settings, and those of a whole production stack."""
    given = load(read_stack("prod", Path(__file__).parents[3] / "stacks"), stack="prod").platform
    return [*uses.of_platform(given, "prod"), *varied()]


def varied() -> Iterator[Use]:
    releases: list[Any] = []

    def build() -> list[Any]:
        opts = pulumi.ResourceOptions(providers=providers())
        ground = addon_context(opts)
        sample = platform(POOLS)
        for other in variants.variants(sample):
            for addon in registry.wanted(other.addons).values():
                at = type(ground)(**{**vars(ground), "platform": other})
                releases.extend((addon.name, chart) for chart in addon.parts(at).releases)
        return [dict(chart.values) for _, chart in releases]

    values = run(build).returned
    for (name, chart), plain in zip(releases, values, strict=True):
        yield Use(release=name, chart=chart.ref.name, version=chart.ref.version, values=plain)


def test_every_key_of_every_add_on_was_found_in_its_chart(every_use: list[Use]) -> None:
    found = {
        f"{use.chart}: {path}"
        for use in every_use
        if use.chart in RECORD
        for path in keys.unverified(use.values, RECORD[use.chart].keys)
    }
    assert not found, f"correct the key, or {RECORDED}"


def test_a_typo_in_a_value_is_found() -> None:
    known = RECORD["kueue"].keys
    wrong = {"controllerManager": {"manger": {"resources": {}}, "replicas": 2}}
    assert keys.unverified(wrong, known) == ("controllerManager/manger/resources",)


def test_the_record_is_of_the_versions_that_are_pinned() -> None:
    pins = {chart.name: chart.version for chart in pinned()}
    assert {name: entry.version for name, entry in RECORD.items()} == {name: pins[name] for name in RECORD}, RECORDED


def test_every_chart_that_is_used_is_in_the_record_but_those_that_nobody_had(every_use: list[Use]) -> None:
    assert {use.chart for use in every_use} - set(RECORD) <= NOT_PUBLISHED_HERE, RECORDED


def test_the_record_names_no_chart_that_is_not_used(every_use: list[Use]) -> None:
    assert set(RECORD) <= {use.chart for use in every_use}, RECORDED


def test_the_charts_know_what_the_record_says(shared: Path, every_use: list[Use]) -> None:
    findings = check.check(uses.together(every_use), shared / "charts")
    assert [line for finding in findings for line in finding.problems] == []
    made = check.record(findings)
    assert set(made) == set(RECORD), RECORDED
    for name, entry in made.items():
        assert entry.version == RECORD[name].version, f"{name}: {RECORDED}"
        assert entry.keys <= RECORD[name].keys, f"{name}: {RECORDED}"


def test_the_record_is_written_as_it_is_read(tmp_path: Path) -> None:
    file = tmp_path / "verified.yaml"
    verified.save(RECORD, file)
    assert verified.load(file) == RECORD
    assert file.read_text() == verified.FILE.read_text(), RECORDED
    assert json.dumps(sorted(RECORD)) == json.dumps(list(RECORD))
