"""Settings of what nodes with GPUs have: device plugins for GPUs and network adapters, images."""

from typing import Annotated, ClassVar

from pydantic import Field

from spec.settings.addons.base import AddonSettings
from spec.settings.addons.observability import KubePrometheusStack
from spec.settings.base import Name, pattern

Image = Annotated[
    str,
    pattern(
        r"^[a-z0-9]([a-z0-9._/:-]*[a-z0-9])?(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}|@sha256:[0-9a-f]{64})$",
        rule="an image has a tag or a digest, without which each node may load another",
        fix="Write it like vllm/vllm-openai:v0.24.0.",
        max_length=512,
    ),
]


class GpuOperator(AddonSettings):
    """NVIDIA GPU Operator: device plugin, labels and metrics of GPUs. The driver comes with the AMI."""

    follows: ClassVar[tuple[type[AddonSettings], ...]] = (KubePrometheusStack,)

    metrics_seconds: Annotated[int, Field(ge=1, le=300)] = 15
    """Interval at which Prometheus scrapes GPU metrics, in seconds; only with kubePrometheusStack."""


class DraDriver(AddonSettings):
    """NVIDIA's driver for Dynamic Resource Allocation, on the nodes of pools with `gpuAllocation: dra`."""


class EfaDevicePlugin(AddonSettings):
    """Exposes Elastic Fabric Adapters to pods as `vpc.amazonaws.com/efa`."""


class ImagePreload(AddonSettings):
    """Images that the nodes of a pool load as soon as they start and keep, before a pod asks for them."""

    pools: dict[Name, tuple[Image, ...]] = Field(default_factory=dict)
    """Images by pool, as pods name them. Needs Kubernetes 1.35."""
