"""Settings of what makes GPUs and network adapters usable by pods."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import StringConstraints

from infra.config.addons.base import AddonSettings
from infra.config.addons.observability import KubePrometheusStack


class GpuOperator(AddonSettings):
    """NVIDIA's GPU Operator: device plugin, MIG manager, labels and metrics of GPUs; no driver, which the image has."""

    follows: ClassVar[tuple[type[AddonSettings], ...]] = (KubePrometheusStack,)

    metrics_interval: Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{0,2}s$")] = "15s"
    """How often metrics of GPUs are read, with kubePrometheusStack; a node of 8 GPUs has about 500 series."""


class EfaDevicePlugin(AddonSettings):
    """Offers Elastic Fabric Adapters to pods as `vpc.amazonaws.com/efa`."""
