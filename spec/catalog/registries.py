"""AWS's regional registries of container images."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from spec.catalog import regions
from spec.catalog.document import Source, load, source

_DOCUMENT: Final = load("registries.yaml")
SOURCE: Final[Source] = source(_DOCUMENT)
ACCOUNTS: Final[Mapping[str, str]] = MappingProxyType(
    dict.fromkeys(_DOCUMENT["default_regions"], _DOCUMENT["default"]) | _DOCUMENT["accounts"]
)
"""Accounts of EKS's images by region."""


def eks_registry(region: str) -> str | None:
    """Host of the registry with EKS's own images in a region; None if no source lists it."""
    account = ACCOUNTS.get(region)
    return f"{account}.dkr.ecr.{region}.{regions.get(region).dns_suffix}" if account else None
