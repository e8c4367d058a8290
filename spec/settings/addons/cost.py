"""Settings of cost tools: OpenCost and Kubecost."""

from typing import Annotated, ClassVar

from pydantic import Field

from spec.settings.addons.base import AddonSettings
from spec.settings.addons.observability import KubePrometheusStack


class Opencost(AddonSettings):
    """Cost by pod from Prometheus: light, with a history limited to Prometheus retention (chart opencost)."""

    requires: ClassVar[tuple[type[AddonSettings], ...]] = (KubePrometheusStack,)

    memory_gib: Annotated[int, Field(ge=1, le=64)] = 1
    """Memory, in GiB."""


class Kubecost(AddonSettings):
    """Cost by team, project and job, with budgets and savings, kept in S3 (chart kubecost, version 3)."""

    excludes: ClassVar[tuple[type[AddonSettings], ...]] = (Opencost,)

    retention_days: Annotated[int, Field(ge=1, le=365)] = 91
    """Days that the aggregator keeps daily costs; they determine the size of its database."""
    storage_gib: Annotated[int, Field(ge=32, le=4096)] = 128
    """Volume of the aggregator's database, in GiB."""
    memory_gib: Annotated[int, Field(ge=2, le=256)] = 4
    """Memory of the aggregator, in GiB."""
