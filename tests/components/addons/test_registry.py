"""Every add-on of the stack file exists once and has a page."""

import re
from collections import Counter
from pathlib import Path
from typing import Any, Final, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.addons.registry import REGISTRY, before, sequence, wanted
from components.base.addon import AddOn
from spec.settings.addons import Addons, AddonSettings
from tests.components.addons.fakes import settings

ROOT: Final = Path(__file__).parents[3]
KINDS: Final = {
    str(field.alias): next(kind for kind in get_args(field.annotation) if kind is not type(None))
    for field in Addons.model_fields.values()
}
"""Settings of every add-on by its key in the stack file."""


def kebab(key: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", key).lower()


def test_settings_keys_and_add_ons_correspond() -> None:
    assert set(REGISTRY) == set(KINDS.values())
    assert len(set(KINDS.values())) == len(KINDS)


@pytest.mark.parametrize("key", KINDS)
def test_an_add_on_has_its_keys_name_and_a_page(key: str) -> None:
    addon = REGISTRY[KINDS[key]]
    assert issubclass(addon, AddOn)
    assert addon.name == kebab(key)
    page = ROOT / "docs" / "addons" / f"{addon.name}.md"
    assert page.is_file(), f"{page.relative_to(ROOT)} is missing"
    headings = {line.removeprefix("## ") for line in page.read_text().splitlines() if line.startswith("## ")}
    assert {"Settings", "Cost", "Verification", "Troubleshooting"} <= headings


def test_names_are_unique() -> None:
    assert [name for name, count in Counter(addon.name for addon in REGISTRY.values()).items() if count > 1] == []


def test_relations_refer_to_existing_add_ons() -> None:
    for kind in REGISTRY:
        for others in (kind.requires, kind.follows, kind.excludes):
            assert set(others) <= set(REGISTRY), kind


def test_no_add_on_excludes_a_required_one() -> None:
    for kind in REGISTRY:
        assert not set(kind.excludes) & {*kind.requires, *kind.follows}, kind


def test_every_valid_set_has_an_order() -> None:
    """No set of enabled add-ons has a cycle: the largest sets without exclusions have an order."""
    free: dict[str, type[AddonSettings]] = {}
    for key, kind in KINDS.items():
        if not any(other in free.values() for other in kind.excludes) and not any(
            kind in other.excludes for other in free.values()
        ):
            free[key] = kind
    complete = {key: kind for key, kind in free.items() if set(kind.requires) <= set(free.values())}
    assert sequence(complete)


def test_only_add_ons_of_the_stack_file_are_enabled() -> None:
    assert wanted(Addons()) == {}
    assert list(wanted(Addons.model_validate_json('{"gpuOperator": {}}'))) == ["gpu-operator"]


Base = settings("Base")
Needing = settings("Needing", requires=(Base,))
Using = settings("Using", follows=(Base,))
Rival = settings("Rival", excludes=(Base,))


def test_required_and_followed_add_ons_come_before() -> None:
    assert before({"a": Needing, "b": Using, "z": Base}) == {"a": ("z",), "b": ("z",), "z": ()}
    assert sequence({"a": Needing, "b": Using, "z": Base})[0] == "z"


def test_a_followed_add_on_may_be_disabled() -> None:
    assert before({"b": Using}) == {"b": ()}


def test_a_missing_requirement_names_both() -> None:
    with pytest.raises(ValueError, match=r"needing requires Base, which is not enabled"):
        before({"needing": Needing})


def test_a_conflict_names_both() -> None:
    with pytest.raises(ValueError, match=r"rival and base exclude each other"):
        before({"rival": Rival, "base": Base})


def test_a_cycle_names_its_path() -> None:
    first: Any = settings("First")
    second: Any = settings("Second", requires=(first,))
    first.follows = (second,)
    with pytest.raises(ValueError, match=r"depend on each other in a cycle: (one -> two -> one|two -> one -> two)"):
        sequence({"one": first, "two": second})


@given(st.permutations(["a", "b", "y", "z"]))
def test_the_order_in_the_stack_file_is_irrelevant(names: list[str]) -> None:
    kinds = {"a": Needing, "b": Using, "y": settings("Other"), "z": Base}
    assert sequence({name: kinds[name] for name in names}) == sequence(kinds)
