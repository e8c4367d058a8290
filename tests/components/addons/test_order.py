"""The installation order of add-ons."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.addons.order import before, sequence
from tests.components.addons.fakes import settings

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
