"""Shared parts of chart values: requests and limits, PodDisruptionBudgets, metrics."""

from __future__ import annotations

from typing import Any

from components.base.addon import AddOnContext
from spec.settings.addons.observability import KubePrometheusStack


def sized(cpu: str, memory: str) -> dict[str, Any]:
    """Resources of a container: the memory limit equals the request; CPU has no limit.

    Restarting a controller that exceeds its memory is better than evicting its neighbours on the node; using idle CPU
    lets it catch up faster without harm (kubernetes.io, "Resource Management for Pods and Containers").
    """
    return {"requests": {"cpu": cpu, "memory": memory}, "limits": {"memory": memory}}


def uncapped(cpu: str, memory: str) -> dict[str, Any]:
    """`sized` for a chart whose default values have a CPU limit: Helm merges maps, so the limit stays unless it is null
    (helm.sh, "Values Files", "Deleting a default key")."""
    own = sized(cpu, memory)
    return {**own, "limits": {"cpu": None, **own["limits"]}}


def keeps_one(replicas: int) -> bool:
    """Whether a PodDisruptionBudget of `minAvailable: 1` makes sense: with a single replica it would block every
    drain."""
    return replicas > 1


def scraped(context: AddOnContext) -> bool:
    """Whether Prometheus is enabled, so that its CRDs (ServiceMonitor) are installed."""
    return context.platform.addons.has(KubePrometheusStack)
