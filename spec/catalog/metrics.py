"""Gauges of controllers that run several replicas, each of which exports its own copy."""

from collections.abc import Mapping
from functools import cache

from spec.catalog.document import load


@cache
def replicated_gauges() -> Mapping[str, str | None]:
    """The label that names the role of the replica, by gauge; None for a gauge without such a label."""
    controllers = load("metrics.yaml")["controllers"].values()
    return {name: entry.get("label") for entry in controllers for name in entry["gauges"]}
