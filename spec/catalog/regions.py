"""AWS Regions: partition, Availability Zones by name and by ID."""

from collections.abc import Mapping
from dataclasses import dataclass
from string import ascii_lowercase
from types import MappingProxyType
from typing import Final

from spec.catalog.document import Source, load, source


@dataclass(frozen=True)
class Region:
    """A region, and the zones that an account may find in it."""

    name: str
    partition: str  # first part of ARNs after `arn:`: `aws`, `aws-cn`, `aws-us-gov`, ..
    dns_suffix: str  # domain of the partition's endpoints: `amazonaws.com`
    zones: tuple[str, ...]
    """Names of zones, sorted: those seen in some account, and the first letters for as many zone IDs as AWS lists. An
    account may have fewer. Empty if no source lists them."""
    zone_ids: tuple[str, ...]
    """IDs of zones: the same place in every account, while the name of an ID may differ. Empty if unknown."""


_SEEN: Final = load("regions.json")
_IDS: Final = load("zone-ids.yaml")
SOURCES: Final[tuple[Source, ...]] = (source(_SEEN), source(_IDS))


WITHOUT_EKS: Final = frozenset(_IDS["without_eks"])  # IDs of zones in which EKS refuses subnets of a cluster


def _region(name: str, partition: str, suffix: str, seen: list[str]) -> Region:
    ids = tuple(_IDS["zone_ids"].get(name, ()))
    named = {f"{name}{letter}" for letter in ascii_lowercase[: len(ids)]}
    return Region(name, partition, suffix, tuple(sorted(named.union(seen))), ids)


REGIONS: Final[Mapping[str, Region]] = MappingProxyType(
    {
        name: _region(name, partition, entry["dns_suffix"], seen)
        for partition, entry in _SEEN["partitions"].items()
        for name, seen in entry["regions"].items()
    }
)
"""All regions by name."""
NAMES: Final = f"one of {', '.join(sorted(REGIONS))}"  # all names, for an error about another one


def get(region: str) -> Region:
    """Return the region of that name; KeyError if there is none."""
    if region not in REGIONS:
        message = f"AWS has no region {region!r} that the catalog knows: use {NAMES}"
        raise KeyError(message)
    return REGIONS[region]


def is_region(name: str) -> bool:
    """Whether a region of that name exists."""
    return name in REGIONS


def partition(region: str) -> str:
    """Partition of a region: `aws` for us-east-1."""
    return get(region).partition


def zones(region: str) -> tuple[str, ...]:
    """Names of zones that an account may have in a region; empty if no source lists them."""
    return get(region).zones


_DOCUMENT: Final = load("registries.yaml")
SOURCE: Final[Source] = source(_DOCUMENT)
ACCOUNTS: Final[Mapping[str, str]] = MappingProxyType(
    dict.fromkeys(_DOCUMENT["default_regions"], _DOCUMENT["default"]) | _DOCUMENT["accounts"]
)
"""Accounts of EKS's images by region."""
CACHES: Final[Mapping[str, str]] = MappingProxyType(_DOCUMENT["caches"])
"""Registries that ECR can cache, by the prefix of their cached images."""


def eks_registry(region: str) -> str | None:
    """Host of the registry with EKS's own images in a region; None if no source lists it."""
    account = ACCOUNTS.get(region)
    return f"{account}.dkr.ecr.{region}.{get(region).dns_suffix}" if account else None
