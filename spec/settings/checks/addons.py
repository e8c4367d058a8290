"""Checks of add-ons against each other; what an add-on needs of pools or storage is in its family's file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from spec.settings.addons import Addons, AddonSettings
from spec.settings.checks.base import Context
from spec.settings.problems import Problem


def key_of(kind: type[AddonSettings]) -> str:
    """Key of an add-on in a stack file."""
    for field in Addons.model_fields.values():
        if kind in (field.annotation, *get_args(field.annotation)):
            return str(field.alias)
    msg = f"{kind.__name__} is not a field of Addons"
    raise LookupError(msg)


def relations(_context: Context, addons: Addons) -> Iterator[Problem]:
    """Add-ons that another requires are installed, and add-ons that exclude each other are not."""
    for key, settings in addons.wanted():
        for other in settings.requires:
            if not addons.has(other):
                need = key_of(other)
                rule = f"{key} needs {need}"
                yield Problem(f"addons.{key}", rule, None, f"Add `{need}: {{}}` to addons, or remove {key}.")
        for other in settings.excludes:
            if addons.has(other):
                rule = f"{key} and {key_of(other)} exclude each other"
                yield Problem(f"addons.{key}", rule, key_of(other), "Keep one of the two.")
