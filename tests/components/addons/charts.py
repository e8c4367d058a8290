"""Values against the chart that they are for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

FREE: Final = ("nodeSelector", "resources")
"""Maps that Kubernetes defines and not the chart: its own values name only what it sets."""


def unknown_keys(values: Mapping[str, Any], chart: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """Keys that the chart's own values lack: Helm takes a typo without a word. An empty map in the chart takes any."""
    for key, value in values.items():
        where = f"{path}{key}"
        if key not in chart:
            yield where
        elif isinstance(value, Mapping) and chart[key] and key not in FREE:
            yield from unknown_keys(value, chart[key], f"{where}.")


def own_values(shared: Path, chart: str) -> Any:
    """The values that a chart brings."""
    return yaml.load((shared / "charts" / chart / "values.yaml").read_text(), yaml.CSafeLoader)
