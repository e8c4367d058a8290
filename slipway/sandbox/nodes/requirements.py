"""Karpenter's requirements: which values a label may have (karpenter.sh/v1, NodeSelectorRequirementWithMinValues)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def matches(labels: Mapping[str, str], requirements: Sequence[Mapping[str, Any]]) -> bool:
    """Whether labels meet all requirements; a missing key meets only NotIn and DoesNotExist."""
    return all(_holds(labels.get(str(each["key"])), each) for each in requirements)


def values(requirements: Sequence[Mapping[str, Any]], key: str) -> tuple[str, ...]:
    """The values that the `In` requirements allow for a key, in their order; empty if there is no such requirement."""
    limits = [each for each in requirements if each.get("key") == key and each.get("operator") == "In"]
    return tuple(str(value) for each in limits for value in each.get("values") or ())


def _holds(value: str | None, requirement: Mapping[str, Any]) -> bool:
    operator = requirement.get("operator")
    allowed = [str(each) for each in requirement.get("values") or ()]
    if operator in {"NotIn", "DoesNotExist"}:
        return value is None or (operator == "NotIn" and value not in allowed)
    if value is None:
        return False
    if operator == "In":
        return value in allowed
    return operator == "Exists" or _compares(value, str(operator), allowed)


def _compares(value: str, operator: str, bounds: Sequence[str]) -> bool:
    try:
        number, bound = int(value), int(bounds[0])
    except (ValueError, IndexError):
        return False
    return {
        "Gt": number > bound,
        "Gte": number >= bound,
        "Lt": number < bound,
        "Lte": number <= bound,
    }.get(operator, False)
