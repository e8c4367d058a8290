"""Add-ons in a stack file that need each other, or can't stand together."""

from __future__ import annotations

from datetime import date
from typing import ClassVar

import pytest

from spec.settings.addons import Addons, AddonSettings
from spec.settings.checks.addons import key_of, relations
from spec.settings.checks.base import Context
from spec.settings.problems import Problem


class Base(AddonSettings):
    """Stands alone."""


class Needing(AddonSettings):
    """Needs the base."""

    requires: ClassVar[tuple[type[AddonSettings], ...]] = (Base,)


class Rival(AddonSettings):
    """Does the work of the base."""

    excludes: ClassVar[tuple[type[AddonSettings], ...]] = (Base,)


class Some(Addons):
    """A stack file of these three."""

    the_base: Base | None = None
    needing: Needing | None = None
    rival: Rival | None = None


def problems(monkeypatch: pytest.MonkeyPatch, text: str) -> list[Problem]:
    monkeypatch.setattr("spec.settings.checks.addons.Addons", Some)
    return list(relations(Context("test", date(2026, 9, 1), {}, {}), Some.model_validate_json(text)))


def test_what_is_complete_has_no_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    assert problems(monkeypatch, '{"needing": {}, "theBase": {}}') == []


def test_a_missing_requirement_names_both_by_their_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = problems(monkeypatch, '{"needing": {}}')
    assert (found.path, found.rule) == ("addons.needing", "needing needs theBase")
    assert found.fix == "Add `theBase: {}` to addons, or leave needing out."


def test_a_conflict_names_both_by_their_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = problems(monkeypatch, '{"rival": {}, "theBase": {}}')
    assert (found.path, found.rule, found.value) == (
        "addons.rival",
        "rival and theBase exclude each other",
        "theBase",
    )


def test_every_relation_of_the_true_add_ons_has_a_key() -> None:
    for settings in AddonSettings.__subclasses__():
        if settings.__module__.startswith("spec.settings.addons"):
            for other in (*settings.requires, *settings.follows, *settings.excludes):
                assert key_of(other)
