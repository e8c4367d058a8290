"""Names: how logical names become AWS names, and how long those may get.

Logical names are kebab-case paths of roles and config keys (`pool-a100-launch-template`); no environment, region or
index is in them, so nothing is replaced when those change. AWS names follow from them by the engine's auto-naming.
"""

from __future__ import annotations

from typing import Final

AUTONAMING_PATTERN: Final = "${project}-${stack}-${name}-${hex(7)}"
"""`pulumi:autonaming` in Pulumi.yaml: names in the AWS console say whose they are, and a replacement can be made
before the old one is deleted."""

_HEX_DIGITS: Final = 7


def physical_length(project: str, stack: str, logical: str) -> int:
    """Length of the AWS name that auto-naming makes of a logical name."""
    return len(f"{project}-{stack}-{logical}-") + _HEX_DIGITS


def zone_letter(zone: str) -> str:
    """The letter by which a zone is named inside its region: `a` of `us-east-1a`."""
    return zone[-1]
