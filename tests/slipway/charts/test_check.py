"""Keys of values, and the record of those that charts support."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

import pulumi
import pytest

from components.addons import registry
from infra.facts import of_addons
from slipway.charts import check, uses, variants
from slipway.charts.pull import pinned
from slipway.charts.uses import Use
from spec.settings import load, read_stack
from spec.settings.addons import AddonSettings
from spec.settings.addons.batch import Kueue, Volcano
from spec.settings.addons.serving import Kserve
from tests.components.pools.samples import platform
from tests.sandbox.kubernetes.helm.charts import chart_at, write_chart
from tests.support.cases import beside
from tests.support.context import POOLS, addon_context
from tests.support.generated import CHARTS
from tests.support.mocks import providers, run

# Keys of values as paths.


CASES: Final = beside(__file__)
VALUES = CASES["values"]


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


# Every value that the platform sets is one that its chart supports; checked against the record, without charts.


RECORD = check.load()
RECORDED = f"with the charts at hand (SLIPWAY_CHARTS) run `{CHARTS}`"
NOT_RECORDED = {"dra-driver-nvidia-gpu", "gateway-crds-helm", "knative-operator"}
"""Charts that were not available for the record; docs/addons says so for each."""


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
                own = type(context)(**{**vars(context), **vars(of_addons(other))})
                releases.extend((addon.name, chart) for chart in addon.parts(own).releases)
        return [dict(chart.values) for _, chart in releases]

    values = run(build).returned
    for (name, chart), plain in zip(releases, values, strict=True):
        yield Use(release=name, chart=chart.ref.name, version=chart.ref.version, values=plain)


def unverified(chart: str, values: Mapping[str, Any]) -> list[str]:
    """Paths of the values that the record doesn't have, nor one above them."""
    return [
        check.text(path)
        for path in check.leaves(values)
        if not any(check.text(path[:length]) in RECORD[chart].keys for length in range(1, len(path) + 1))
    ]


def test_every_key_of_every_add_on_is_verified(every_use: list[Use]) -> None:
    found = {
        f"{use.chart}: {path}" for use in every_use if use.chart in RECORD for path in unverified(use.chart, use.values)
    }
    assert not found, f"correct the key, or {RECORDED}"


def test_a_typo_in_a_value_is_unverified() -> None:
    wrong = {"controllerManager": {"manger": {"resources": {}}, "replicas": 2}}
    assert unverified("kueue", wrong) == ["controllerManager/manger/resources"]


def test_the_record_has_the_pinned_versions() -> None:
    pins = {chart.name: chart.version for chart in pinned()}
    assert {name: entry.version for name, entry in RECORD.items()} == {name: pins[name] for name in RECORD}, RECORDED


def test_every_used_chart_is_recorded_except_the_unavailable_ones(every_use: list[Use]) -> None:
    assert {use.chart for use in every_use} - set(RECORD) <= NOT_RECORDED, (
        f"{RECORDED}; NOT_RECORDED has those that can't be had"
    )


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


# Variants of the settings of add-ons.


@pytest.fixture(scope="module")
def addon_variants() -> list[Any]:
    return [each.addons for each in variants.variants(platform(POOLS))]


def test_every_add_on_is_in_some_variant(addon_variants: list[Any]) -> None:
    assert {key for addons in addon_variants for key, _ in addons.wanted()} == {
        str(addons_field.alias) for addons_field in type(addon_variants[0]).model_fields.values()
    }


def test_every_variant_respects_requirements_and_exclusions(addon_variants: list[Any]) -> None:
    for addons in addon_variants:
        for _, settings in addons.wanted():
            assert not any(addons.has(other) for other in settings.excludes)
            assert all(addons.has(other) for other in settings.requires)


def test_every_value_of_every_field_is_in_some_variant(addon_variants: list[Any]) -> None:
    serving = [addons.kserve for addons in addon_variants if addons.kserve]
    assert {one.ingress for one in serving} == {"alb", "gateway", "none"}
    assert {one.https for one in serving} == {False, True}
    queues = [addons.kueue for addons in addon_variants if addons.kueue]
    assert {one.multi_kueue for one in queues} == {None, "manager", "worker"}
    assert {one.replicas for one in queues} == {1, 2, 5}


def test_add_ons_that_exclude_each_other_are_in_different_groups() -> None:
    groups = variants.groups({"kueue": Kueue, "volcano": Volcano})
    assert [list(group) for group in groups] == [["kueue"], ["volcano"]]


def test_a_group_has_the_requirements_of_its_add_ons() -> None:
    class Needs(AddonSettings):
        requires: ClassVar[tuple[type[AddonSettings], ...]] = (Kserve,)

    groups = variants.groups({"needs": Needs, **variants.kinds()})
    (group,) = [each for each in groups if "needs" in each]
    assert {"kserve", "cert_manager"} <= set(group)


def test_an_add_on_is_also_with_each_one_that_it_follows(addon_variants: list[Any]) -> None:
    sets = [{type(settings) for _, settings in addons.wanted()} for addons in addon_variants]
    pairs = [{kind, other} for kind in variants.kinds().values() for other in kind.follows]
    assert [pair for pair in pairs if not any(pair <= each for each in sets)] == []


def test_an_example_gives_what_has_no_default_and_one_that_is_missing_or_wrong_is_named() -> None:
    class Zones(AddonSettings):
        hosted_zones: tuple[str, ...]

    class Known(Zones):
        example: ClassVar[Mapping[str, Any]] = {"hostedZones": ["Z1"]}

    class Wrong(Zones):
        example: ClassVar[Mapping[str, Any]] = {"hostedZones": "Z1"}

    assert variants.example(Known) == Known(hostedZones=("Z1",))
    with pytest.raises(ValueError, match=r"^Zones: hostedZones: Field required\. Write an example .* into the class"):
        variants.example(Zones)
    with pytest.raises(ValueError, match=r"^Wrong: hostedZones: Input should be a valid "):
        variants.example(Wrong)
