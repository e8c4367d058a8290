"""Keys of values, and the record of those that charts support."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pulumi
import pytest

from components.addons import registry
from slipway.charts import check, uses, variants
from slipway.charts.pull import pinned
from slipway.charts.uses import Use
from spec.settings import load, read_stack
from tests.components.pools.samples import platform
from tests.sandbox.kubernetes.helm.charts import chart_at, write_chart
from tests.support.context import POOLS, addon_context
from tests.support.generated import CHARTS
from tests.support.mocks import providers, run

# Keys of values as paths.


VALUES = """\
replicas: 1
controller:
  image: {tag: ""}
  extra: {}
  resources: {limits: {cpu: 1}}
  # priorityClassName: high
list: []
"""


def test_every_value_that_is_not_a_map_has_a_path() -> None:
    values = {"a": {"b": 1, "c": {"d": [1, {"e": 2}]}}, "f": {}, "g": None}
    assert list(check.leaves(values)) == [("a", "b"), ("a", "c", "d"), ("f",), ("g",)]


def test_a_verified_path_ends_where_the_chart_accepts_any_key(tmp_path: Path) -> None:
    chart = chart_at(write_chart(tmp_path, values=VALUES))
    values = {
        "controller": {
            "image": {"tag": "v1"},
            "extra": {"anything": {"below": 1}},
            "resources": {"requests": {"nvidia.com/gpu": 1}},
            "priorityClassName": "low",
        },
        "list": [{"x": 1}],
    }
    assert check.verified(chart, values) == {
        "controller/image/tag",
        "controller/extra",
        "controller/resources",
        "controller/priorityClassName",
        "list",
    }


def test_a_key_is_verified_by_its_own_path_or_a_parent_path() -> None:
    known = {"a/b", "c"}
    assert check.unverified({"a": {"b": {"x": 1}}, "c": {"y": {"z": 1}}}, known) == ()
    assert check.unverified({"a": {"bb": 1}, "cc": 1, "d": {}}, known) == ("a/bb", "cc", "d")


# Every value that the platform sets is one that its chart supports; checked against the record, without charts.


RECORD = check.load()
RECORDED = f"with the charts at hand (SLIPWAY_CHARTS) run `{CHARTS}`"
NOT_RECORDED = {"gateway-crds-helm", "knative-operator"}
"""Charts that were not available for the record; docs/addons says so for both."""


@pytest.fixture(scope="module")
def every_use() -> list[Use]:
    """Releases of every add-on with varied settings, and those of stack prod."""
    prod = load(read_stack("prod", Path(__file__).parents[3] / "stacks"), stack="prod").platform
    return [*uses.of_platform(prod, "prod"), *varied()]


def varied() -> Iterator[Use]:
    releases: list[Any] = []

    def build() -> list[Any]:
        opts = pulumi.ResourceOptions(providers=providers())
        context = addon_context(opts)
        sample = platform(POOLS)
        for other in variants.variants(sample):
            for addon in registry.wanted(other.addons).values():
                own = type(context)(**{**vars(context), "platform": other})
                releases.extend((addon.name, chart) for chart in addon.parts(own).releases)
        return [dict(chart.values) for _, chart in releases]

    values = run(build).returned
    for (name, chart), plain in zip(releases, values, strict=True):
        yield Use(release=name, chart=chart.ref.name, version=chart.ref.version, values=plain)


def test_every_key_of_every_add_on_is_verified(every_use: list[Use]) -> None:
    unverified = {
        f"{use.chart}: {path}"
        for use in every_use
        if use.chart in RECORD
        for path in check.unverified(use.values, RECORD[use.chart].keys)
    }
    assert not unverified, f"correct the key, or {RECORDED}"


def test_a_typo_in_a_value_is_unverified() -> None:
    known = RECORD["kueue"].keys
    wrong = {"controllerManager": {"manger": {"resources": {}}, "replicas": 2}}
    assert check.unverified(wrong, known) == ("controllerManager/manger/resources",)


def test_the_record_has_the_pinned_versions() -> None:
    pins = {chart.name: chart.version for chart in pinned()}
    assert {name: entry.version for name, entry in RECORD.items()} == {name: pins[name] for name in RECORD}, RECORDED


def test_every_used_chart_is_recorded_except_the_unavailable_ones(every_use: list[Use]) -> None:
    assert {use.chart for use in every_use} - set(RECORD) <= NOT_RECORDED, RECORDED


def test_every_recorded_chart_is_used(every_use: list[Use]) -> None:
    assert set(RECORD) <= {use.chart for use in every_use}, RECORDED


def test_the_charts_support_the_recorded_keys(shared: Path, every_use: list[Use]) -> None:
    # Some charts are only in the folder of whole charts, which has newer versions of others.
    grouped = uses.by_chart(every_use)
    newer = {name: grouped[name] for name in grouped if not (shared / "charts" / name).is_dir()}
    rest = {name: each for name, each in grouped.items() if name not in newer}
    findings = [*check.check(rest, shared / "charts"), *check.check(newer, shared / "charts-full")]
    assert [line for finding in findings for line in finding.problems] == []
    recorded = check.record(findings)
    assert set(recorded) == set(RECORD), RECORDED
    for name, entry in recorded.items():
        assert entry.version == RECORD[name].version, f"{name}: {RECORDED}"
        assert entry.keys <= RECORD[name].keys, f"{name}: {RECORDED}"


def test_a_saved_record_is_the_same_file(tmp_path: Path) -> None:
    file = tmp_path / "verified.yaml"
    check.save(RECORD, file)
    assert check.load(file) == RECORD
    assert file.read_text() == check.FILE.read_text(), RECORDED
    assert json.dumps(sorted(RECORD)) == json.dumps(list(RECORD))
