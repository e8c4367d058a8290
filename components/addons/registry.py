"""Every add-on there is, by the settings that switch it on. Explicit: nothing is discovered."""

from __future__ import annotations

from typing import Any, Final

from components.addons.contract import AddOn
from infra.config.addons import Addons, AddonSettings

REGISTRY: Final[dict[type[AddonSettings], type[AddOn[Any]]]] = {}


def wanted(addons: Addons) -> dict[str, AddOn[Any]]:
    """Add-ons that are on, by name."""
    found = (REGISTRY[type(settings)](settings) for _, settings in addons.wanted())
    return {addon.name: addon for addon in found}
