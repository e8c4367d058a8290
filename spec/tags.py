"""Tags of every resource: owner, cost center, and the tool that manages it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

COMPUTED_TAGS: Final = frozenset({"environment", "owner", "cost-center", "managed-by", "name"})
"""Keys that Slipway sets itself, in lower case; a stack file's own tags may not repeat them."""


def platform_tags(environment: str, owner: str, cost_center: str, more: Mapping[str, str]) -> dict[str, str]:
    """Tags that the AWS provider sets on every resource, sorted by key so that order causes no diff."""
    tags = {
        "environment": environment,
        "owner": owner,
        "cost-center": cost_center,
        "managed-by": "slipway",
        **more,
    }
    return dict(sorted(tags.items()))
