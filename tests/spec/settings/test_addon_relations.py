"""Add-ons in a stack file that require or exclude each other."""

from datetime import date
from typing import ClassVar

import pytest

from spec.settings.addons import Addons, AddonSettings
from spec.settings.checks.addons import key_of, relations
from spec.settings.checks.base import Context
from spec.settings.problems import Problem


class Base(AddonSettings):
    """Has no relations."""


class Needing(AddonSettings):
    """Requires the base."""

    requires: ClassVar[tuple[type[AddonSettings], ...]] = (Base,)


class Rival(AddonSettings):
    """Excludes the base."""

    excludes: ClassVar[tuple[type[AddonSettings], ...]] = (Base,)


class Some(Addons):
    """A stack file of these three."""

    the_base: Base | None = None
    needing: Needing | None = None
    rival: Rival | None = None


def problems(monkeypatch: pytest.MonkeyPatch, text: str) -> list[Problem]:
    monkeypatch.setattr("spec.settings.checks.addons.Addons", Some)
    return list(relations(Context("test", date(2026, 9, 1), {}, {}), Some.model_validate_json(text)))


def test_satisfied_requirements_have_no_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    assert problems(monkeypatch, '{"needing": {}, "theBase": {}}') == []


def test_a_missing_requirement_names_both_by_their_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    (problem,) = problems(monkeypatch, '{"needing": {}}')
    assert (problem.path, problem.rule) == ("addons.needing", "needing needs theBase")
    assert problem.fix == "Add `theBase: {}` to addons, or remove needing."


def test_a_conflict_names_both_by_their_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    (problem,) = problems(monkeypatch, '{"rival": {}, "theBase": {}}')
    assert (problem.path, problem.rule, problem.value) == (
        "addons.rival",
        "rival and theBase exclude each other",
        "theBase",
    )


def test_every_relation_of_the_real_add_ons_has_a_key() -> None:
    for settings in AddonSettings.__subclasses__():
        if settings.__module__.startswith("spec.settings.addons"):
            for other in (*settings.requires, *settings.follows, *settings.excludes):
                assert key_of(other)
