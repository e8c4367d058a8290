"""Every add-on that a stack file may name exists once, with a page."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Final, get_args

import pytest

from components.addons.order import sequence
from components.addons.registry import REGISTRY, wanted
from components.base.addon import AddOn
from spec.settings.addons import Addons, AddonSettings

ROOT: Final = Path(__file__).parents[3]
KINDS: Final = {
    str(field.alias): next(kind for kind in get_args(field.annotation) if kind is not type(None))
    for field in Addons.model_fields.values()
}
"""Settings of every add-on by its key in the stack file."""


def kebab(key: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", key).lower()


def test_every_key_of_the_stack_file_is_one_add_on_and_every_add_on_has_a_key() -> None:
    assert set(REGISTRY) == set(KINDS.values())
    assert len(set(KINDS.values())) == len(KINDS)


@pytest.mark.parametrize("key", KINDS)
def test_an_add_on_is_named_as_its_key_and_has_a_page(key: str) -> None:
    found = REGISTRY[KINDS[key]]
    assert issubclass(found, AddOn)
    assert found.name == kebab(key)
    page = ROOT / "docs" / "addons" / f"{found.name}.md"
    assert page.is_file(), f"{page.relative_to(ROOT)} is missing"
    headings = {line.removeprefix("## ") for line in page.read_text().splitlines() if line.startswith("## ")}
    assert {"Settings", "Cost", "Verification", "Troubleshooting"} <= headings


def test_no_two_have_one_name() -> None:
    assert [name for name, count in Counter(found.name for found in REGISTRY.values()).items() if count > 1] == []


def test_what_one_says_of_others_is_of_those_there_are() -> None:
    for kind in REGISTRY:
        for others in (kind.requires, kind.follows, kind.excludes):
            assert set(others) <= set(REGISTRY), kind


def test_exclusion_is_known_from_either_side_or_from_one_but_never_of_what_is_required() -> None:
    for kind in REGISTRY:
        assert not set(kind.excludes) & {*kind.requires, *kind.follows}, kind


def test_all_of_them_have_an_order() -> None:
    """No two wait for each other, whichever are on: the largest sets that exclude nothing have an order."""
    free: dict[str, type[AddonSettings]] = {}
    for key, kind in KINDS.items():
        if not any(other in free.values() for other in kind.excludes) and not any(
            kind in other.excludes for other in free.values()
        ):
            free[key] = kind
    complete = {key: kind for key, kind in free.items() if set(kind.requires) <= set(free.values())}
    assert sequence(complete)


def test_only_what_the_file_names_is_on() -> None:
    assert wanted(Addons()) == {}
    assert list(wanted(Addons.model_validate_json('{"gpuOperator": {}}'))) == ["gpu-operator"]
