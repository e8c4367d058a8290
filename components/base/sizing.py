"""What the values of many charts say alike: requests and limits, budgets of disruption, whether metrics are read."""

from __future__ import annotations

from typing import Any

from components.base.addon import AddOnContext
from spec.settings.addons.observability import KubePrometheusStack


def sized(cpu: str, memory: str) -> dict[str, Any]:
    """Resources of a container: memory is limited to what is asked for, CPU is not limited.

    A controller that goes over its memory is better restarted than its node's neighbours evicted; one that may use idle
    CPU catches up faster, and no one suffers (kubernetes.io, "Resource Management for Pods and Containers").
    """
    return {"requests": {"cpu": cpu, "memory": memory}, "limits": {"memory": memory}}


def keeps_one(replicas: int) -> bool:
    """Whether a budget of disruption that keeps one pod is of use: with one pod alone it would block every drain."""
    return replicas > 1


def scraped(context: AddOnContext) -> bool:
    """Whether Prometheus is on, so that its kinds (ServiceMonitor) are there."""
    return context.platform.addons.has(KubePrometheusStack)
