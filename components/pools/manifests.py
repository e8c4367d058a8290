"""What a Kubernetes manifest is of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ManifestKind:
    """A kind of object in one version of its API."""

    api_version: str
    kind: str
