"""Settings of device plugins for GPUs and network adapters."""

from typing import Annotated, ClassVar

from pydantic import Field

from spec.settings.addons.base import AddonSettings
from spec.settings.addons.observability import KubePrometheusStack


class GpuOperator(AddonSettings):
    """NVIDIA GPU Operator: device plugin, labels and metrics of GPUs. The driver comes with the AMI."""

    follows: ClassVar[tuple[type[AddonSettings], ...]] = (KubePrometheusStack,)

    metrics_seconds: Annotated[int, Field(ge=1, le=300)] = 15
    """Interval at which Prometheus scrapes GPU metrics, in seconds; only with kubePrometheusStack."""


class EfaDevicePlugin(AddonSettings):
    """Exposes Elastic Fabric Adapters to pods as `vpc.amazonaws.com/efa`."""
