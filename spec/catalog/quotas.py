"""Service quotas of EC2 and VPC that limit what a stack can create."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from spec.catalog.document import Source, load, source

_DOCUMENT: Final = load("ec2-quotas.yaml")
SOURCE: Final[Source] = source(_DOCUMENT)
_STANDARD: Final = frozenset("acdhimrtz")
_G: Final = ("g", "vt")


@dataclass(frozen=True)
class Quota:
    """A quota in Service Quotas."""

    service: str  # its service code: `ec2`
    code: str  # its quota code: `L-417A185B`
    name: str  # its name there


def _quota(entry: Mapping[str, Any]) -> Quota:
    return Quota(entry.get("service", "ec2"), entry["code"], entry["name"])


VCPUS: Final[Mapping[str, Quota]] = MappingProxyType({key: _quota(one) for key, one in _DOCUMENT["vcpus"].items()})
"""Quotas on vCPUs by the keys that `vcpu_key` returns."""
ADDRESSES: Final[Quota] = _quota(_DOCUMENT["counts"]["addresses"])
NETWORKS: Final[Quota] = _quota(_DOCUMENT["counts"]["networks"])


def vcpu_key(instance_type: str, *, spot: bool) -> str | None:
    """Key of the quota on an instance type's vCPUs: `p`, `g-spot`; None if no source lists the family.

    P5 Spot Instances have a quota of their own. Of P6 on Spot nothing is listed.
    """
    letters = instance_type[: len(instance_type) - len(instance_type.lstrip("abcdefghijklmnopqrstuvwxyz"))]
    generation = instance_type[len(letters) : len(letters) + 1]
    if letters == "p":
        if not spot:
            return "p"
        return {"4": "p-spot", "3": "p-spot", "2": "p-spot", "5": "p5-spot"}.get(generation)
    if letters in ("inf", "trn"):
        return f"{letters}-spot" if spot else letters
    if letters in _G:
        return "g-spot" if spot else "g"
    if letters[:1] in _STANDARD:
        return "standard-spot" if spot else "standard"
    return None
