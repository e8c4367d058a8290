"""Settings of what makes GPUs and network adapters usable by pods."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from spec.settings.addons.base import AddonSettings
from spec.settings.addons.observability import KubePrometheusStack


class GpuOperator(AddonSettings):
    """NVIDIA's GPU Operator: device plugin, MIG manager, labels and metrics of GPUs; no driver, which the image has."""

    follows: ClassVar[tuple[type[AddonSettings], ...]] = (KubePrometheusStack,)

    metrics_seconds: Annotated[int, Field(ge=1, le=300)] = 15
    """How often Prometheus reads metrics of GPUs, in seconds, with kubePrometheusStack."""


class EfaDevicePlugin(AddonSettings):
    """Offers Elastic Fabric Adapters to pods as `vpc.amazonaws.com/efa`."""
