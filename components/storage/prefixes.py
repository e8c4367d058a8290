"""Prefixes in buckets that belong to add-ons and not to teams."""

from __future__ import annotations

from typing import Final

ARTIFACTS: Final = "argo"
"""Prefix in the bucket `state` of artifacts that workflow steps pass to one another."""

CONTAINER_LOGS: Final = "containers"
"""Prefix in the bucket `logs` of the logs of containers, if they are sent to S3."""

COSTS: Final = "costs"
"""Prefix in the bucket `state` of Kubecost's data. It differs from "kubecost": Kubecost doesn't add the prefix to a
path that already begins with it (opencost, core/pkg/storage/prefixedbucketstorage.go, `conditionalPrefix`; read
2026-11)."""


def artifacts_of(namespace: str) -> str:
    """Prefix in the bucket `state` of the artifacts of one namespace: only its pods can write here."""
    return f"{ARTIFACTS}/{namespace}/"
