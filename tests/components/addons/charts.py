"""Compares values with the chart's."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

FREE: Final = ("nodeSelector", "resources")
"""Maps that Kubernetes defines and not the chart: its default values contain only the keys that it sets."""


def unknown_keys(values: Mapping[str, Any], chart: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """Keys that the chart's default values lack: Helm silently accepts typos. An empty map in the chart allows any
    key."""
    for key, value in values.items():
        where = f"{path}{key}"
        if key not in chart:
            yield where
        elif isinstance(value, Mapping) and chart[key] and key not in FREE:
            yield from unknown_keys(value, chart[key], f"{where}.")


def own_values(shared: Path, chart: str) -> Any:
    """The default values of a chart."""
    return yaml.load((shared / "charts" / chart / "values.yaml").read_text(), yaml.CSafeLoader)


Grants = set[tuple[str, str, str]]


def granted(role: Mapping[str, Any]) -> Grants:
    """What a role allows: API group, resource and verb."""
    return {
        (group, resource, verb)
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def beyond(ours: Grants, theirs: Grants) -> Grants:
    """What ours allows and theirs does not, which may have all verbs as `*`."""
    return {one for one in ours if one not in theirs and (*one[:2], "*") not in theirs}
