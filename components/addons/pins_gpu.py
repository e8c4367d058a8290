"""Pins of what makes GPUs and network adapters usable. They are used through `components.addons.versions`."""

from __future__ import annotations

from datetime import date
from typing import Final

from components.addons.chart_ref import ChartRef

GPU_OPERATOR: Final = ChartRef(
    chart="gpu-operator",
    repository="https://helm.ngc.nvidia.com/nvidia",
    version="v26.7.0",
    released=date(2026, 8, 20),
    source="github.com/NVIDIA/gpu-operator, tag v26.7.0",
)
EFA_DEVICE_PLUGIN: Final = ChartRef(
    chart="aws-efa-k8s-device-plugin",
    repository="https://aws.github.io/eks-charts",
    version="v0.5.30",
    released=date(2026, 8, 3),
    source="github.com/aws/eks-charts, stable/aws-efa-k8s-device-plugin",
)
