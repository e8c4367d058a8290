"""Places in buckets that are no team's own prefix: what add-ons keep there, and whose it is."""

from __future__ import annotations

from typing import Final

ARTIFACTS: Final = "argo"
"""Prefix in the bucket `state` of what steps of workflows hand to one another."""


def artifacts_of(namespace: str) -> str:
    """Prefix in the bucket `state` of the artifacts of one namespace: its pods write here, those of no other do."""
    return f"{ARTIFACTS}/{namespace}/"
