"""Base of the settings of every add-on: its relations to other add-ons."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from spec.settings.base import Model


class AddonSettings(Model):
    """Settings of one add-on. Naming it in the stack file installs it."""

    requires: ClassVar[tuple[type[AddonSettings], ...]] = ()  # add-ons that it needs; they are installed before it
    follows: ClassVar[tuple[type[AddonSettings], ...]] = ()
    """Add-ons whose CRDs it uses if they are installed, without requiring them. Their CRDs come before it; of an add-on
    that does not list its CRDs, everything does."""
    excludes: ClassVar[tuple[type[AddonSettings], ...]] = ()
    """Add-ons that do the same work; a stack has only one of them."""
    example: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    """Settings without a default, as in a stack file. Values of charts are verified with them, and tests of all add-ons
    use them."""
