"""What the settings of every add-on share: how it stands to the others."""

from __future__ import annotations

from typing import ClassVar

from spec.settings.base import Model


class AddonSettings(Model):
    """Settings of one add-on. That a stack file names it is what switches it on.

    Attributes:
        requires: Add-ons without which it does not work; they are installed before it.
        follows: Add-ons whose kinds it uses where they are on, and does without: their definitions come before it, and
            all of them where they do not say what their definitions are.
        excludes: Add-ons that do the same work; a stack has one of them.
    """

    requires: ClassVar[tuple[type[AddonSettings], ...]] = ()
    follows: ClassVar[tuple[type[AddonSettings], ...]] = ()
    excludes: ClassVar[tuple[type[AddonSettings], ...]] = ()
