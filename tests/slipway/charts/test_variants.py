"""Variants of the settings of add-ons."""

from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from slipway.charts import variants
from spec.settings.addons import AddonSettings
from spec.settings.addons.batch import Kueue, Volcano
from spec.settings.addons.serving import Kserve
from tests.components.pools.samples import platform
from tests.support.context import POOLS


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
