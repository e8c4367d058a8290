"""Alerts about GPUs and the network between them."""

from __future__ import annotations

from typing import Final

from components.observability.alerts.alert import Alert
from components.observability.promql import of_team, with_team
from components.observability.recording import EFA_RATIO, GPU_ACTIVE, GPU_LABELS, GPU_MEMORY, GPU_XID
from spec.settings.addons.observability import Alerts

IDLE: Final = 0.05
"""Utilization below which a GPU counts as idle."""
FULL: Final = 0.97
"""Share of a GPU's memory in use that leaves nothing for a larger batch. vLLM reserves 0.9 in advance
(docs.vllm.ai, `gpu_memory_utilization`), which is no pressure."""
HALF: Final = 0.5
SATURATED: Final = 0.8
"""Share of the instance type's bandwidth that collectives reach at best (NCCL tests on p5 reach 0.8 to 0.9)."""
APPLICATION_XIDS: Final = (13, 31, 43, 45)
"""Xids that a faulty program causes, not faulty hardware: graphics engine exception, page fault, reset channel,
preemptive clean-up (NVIDIA, "XID Errors", table of common causes; read 2026-11)."""


def idle(settings: Alerts) -> Alert:
    """A pod has a GPU and doesn't use it."""
    quiet = f"avg_over_time({GPU_ACTIVE}[10m])"
    return Alert(
        name="GpuIdle",
        expression=f"{of_team(quiet)} < {IDLE}",
        after=settings.gpu_idle_after,
        severity="warning",
        summary="Pod {{ $labels.namespace }}/{{ $labels.pod }} of {{ $labels.team }} holds an idle GPU"
        " on {{ $labels.node }}.",
    )


def errors() -> Alert:
    """The driver reports an error that a program can't cause."""
    hardware = " != ".join((f"{GPU_XID} > 0", *map(str, APPLICATION_XIDS)))
    return Alert(
        name="GpuErrors",
        expression=with_team(hardware, GPU_LABELS),
        after="0s",
        severity="critical",
        summary="GPU {{ $labels.UUID }} on {{ $labels.node }} reports Xid {{ $value }}.",
    )


def memory() -> Alert:
    """The memory of a GPU is almost used up: the next allocation fails in the program, and the job with it."""
    return Alert(
        name="GpuMemoryAlmostFull",
        expression=with_team(f"{GPU_MEMORY} > {FULL}", GPU_LABELS),
        after="10m",
        severity="warning",
        summary="Pod {{ $labels.namespace }}/{{ $labels.pod }} uses {{ $value | humanizePercentage }} of the memory of"
        " a GPU on {{ $labels.node }}.",
    )


def network_bound() -> Alert:
    """GPUs wait for the network: it is saturated and they are half idle."""
    gpus = f"avg by (node, namespace) ({GPU_ACTIVE})"
    return Alert(
        name="TrainingNetworkBound",
        expression=with_team(f"{gpus} < {HALF} and on (node) {EFA_RATIO} > {SATURATED}", ("node", "namespace")),
        after="15m",
        severity="warning",
        summary="GPUs of {{ $labels.node }} are busy {{ $value | humanizePercentage }} of the time"
        " while its network is full.",
    )
