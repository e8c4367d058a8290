"""Places in buckets that are no team's own prefix: what add-ons keep there, and whose it is."""

from __future__ import annotations

from typing import Final

ARTIFACTS: Final = "argo"
"""Prefix in the bucket `state` of what steps of workflows hand to one another."""

COSTS: Final = "costs"
"""Prefix in the bucket `state` of what Kubecost keeps. Not its own name: its store leaves a path as it is that already
begins like the prefix (opencost, core/pkg/storage/prefixedbucketstorage.go, `conditionalPrefix`; read 2026-11)."""


def artifacts_of(namespace: str) -> str:
    """Prefix in the bucket `state` of the artifacts of one namespace: its pods write here, those of no other do."""
    return f"{ARTIFACTS}/{namespace}/"
