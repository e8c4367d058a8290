"""Variants of the settings of add-ons."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from slipway.charts import variants
from spec.settings.addons import AddonSettings
from spec.settings.addons.batch import Kueue, Volcano
from spec.settings.addons.serving import Kserve
from tests.components.pools.samples import platform
from tests.support.context import POOLS


@pytest.fixture(scope="module")
def made() -> list[Any]:
    return [each.addons for each in variants.variants(platform(POOLS))]


def test_every_add_on_comes_in_some_variant(made: list[Any]) -> None:
    assert {key for addons in made for key, _ in addons.wanted()} == {
        str(addons_field.alias) for addons_field in type(made[0]).model_fields.values()
    }


def test_none_has_two_that_exclude_each_other_or_lacks_what_one_requires(made: list[Any]) -> None:
    for addons in made:
        for _, settings in addons.wanted():
            assert not any(addons.has(other) for other in settings.excludes)
            assert all(addons.has(other) for other in settings.requires)


def test_each_choice_of_each_field_is_taken_by_one(made: list[Any]) -> None:
    serving = [addons.kserve for addons in made if addons.kserve]
    assert {one.ingress for one in serving} == {"alb", "gateway", "none"}
    assert {one.https for one in serving} == {False, True}
    queues = [addons.kueue for addons in made if addons.kueue]
    assert {one.multi_kueue for one in queues} == {None, "manager", "worker"}
    assert {one.replicas for one in queues} == {1, 2, 5}


def test_those_that_exclude_each_other_come_in_different_crews() -> None:
    crews = variants.crews({"kueue": Kueue, "volcano": Volcano})
    assert [list(crew) for crew in crews] == [["kueue"], ["volcano"]]


def test_a_crew_holds_what_its_members_require() -> None:
    class Needs(AddonSettings):
        requires: ClassVar[tuple[type[AddonSettings], ...]] = (Kserve,)

    found = variants.crews({"needs": Needs, **variants.kinds()})
    (crew,) = [each for each in found if "needs" in each]
    assert {"kserve", "cert_manager"} <= set(crew)
