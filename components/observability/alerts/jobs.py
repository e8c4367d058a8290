"""Alerts about pods and jobs."""

from __future__ import annotations

from typing import Final

from components.observability.alerts.alert import Alert
from components.observability.promql import NODE, POD_JOB, of_team, with_team
from spec.settings.addons.observability import Alerts

MEMORY: Final = 0.9
CHECKPOINT: Final = "slipway_checkpoint_timestamp_seconds"
"""Unix time of the last checkpoint, which a training process can export on its port `metrics`
(docs/guides/alerts.md)."""
CLAIM: Final = "checkpoints"
"""Claim that a team's jobs write checkpoints to."""


def pending(settings: Alerts) -> Alert:
    """A pod can't be scheduled, or can't start on its node. Pods that Kueue has not admitted are excluded."""
    phase = 'max by (namespace, pod) (kube_pod_status_phase{phase="Pending"}) == 1'
    nowhere = "max by (namespace, pod) (kube_pod_status_unschedulable) == 1"
    placed = 'max by (namespace, pod) (kube_pod_status_scheduled{condition="true"}) == 1'
    stuck = f"{phase} and on (namespace, pod) ({nowhere} or {placed})"
    return Alert(
        name="PodPending",
        expression=with_team(stuck, ("namespace", "pod")),
        after=settings.pending_after,
        severity="warning",
        summary="Pod {{ $labels.namespace }}/{{ $labels.pod }} does not start.",
    )


def memory() -> Alert:
    """A container is close to its memory limit."""
    by = "max by (namespace, pod, container)"
    used = f'{by} (container_memory_working_set_bytes{{container!="", image!=""}})'
    limit = f'{by} (kube_pod_container_resource_limits{{resource="memory"}})'
    return Alert(
        name="MemoryAlmostFull",
        expression=with_team(f"{used} / {limit} > {MEMORY}", ("namespace", "pod", "container")),
        after="10m",
        severity="warning",
        summary="Container {{ $labels.container }} of {{ $labels.namespace }}/{{ $labels.pod }} uses"
        " {{ $value | humanizePercentage }} of its memory.",
    )


def checkpoint(settings: Alerts) -> Alert:
    """A job that mounts the checkpoints writes none.

    The process's own metric counts if there is one; otherwise whether the usage of the claim's volume changed. A volume
    that several jobs share shows only that none of them writes.
    """
    window = settings.checkpoint_every
    mounts = f'kube_pod_spec_volumes_persistentvolumeclaims_info{{persistentvolumeclaim="{CLAIM}"}}'
    running = 'max by (namespace, pod) (kube_pod_status_phase{phase="Running"}) == 1'
    jobs = f"{POD_JOB} and on (namespace, pod) ({mounts}) and on (namespace, pod) ({running})"
    grown = f'changes(kubelet_volume_stats_used_bytes{{persistentvolumeclaim="{CLAIM}"}}[{window}]) > 0'
    recent = f"time() - max by (namespace, pod) ({CHECKPOINT}) < {_seconds(window)}"
    by = "max by (namespace, workload)"
    return Alert(
        name="CheckpointNotWritten",
        expression=of_team(
            f"{by} ({jobs}) unless on (namespace) ({grown}) unless on (namespace, workload) "
            f"{by} ({POD_JOB} and on (namespace, pod) ({recent}))"
        ),
        after=window,
        severity="warning",
        summary=f"Job {{{{ $labels.workload }}}} of {{{{ $labels.team }}}} has written no checkpoint for {window}.",
    )


def runaway(settings: Alerts) -> Alert:
    """A job runs longer than the configured maximum."""
    started = f"{POD_JOB} * on (namespace, pod) group_left () max by (namespace, pod) (kube_pod_start_time)"
    running = 'max by (namespace, pod) (kube_pod_status_phase{phase="Running"}) == 1'
    age = f"time() - min by (namespace, workload) ({started} and on (namespace, pod) ({running}))"
    return Alert(
        name="JobRunaway",
        expression=of_team(f"{age} > {_seconds(settings.runaway_after)}"),
        after="5m",
        severity="warning",
        summary="Job {{ $labels.workload }} of {{ $labels.team }} has run for {{ $value | humanizeDuration }}.",
    )


def spot_reclaim() -> Alert:
    """EC2 reclaims Spot instances: Karpenter received the interruption notice, or EKS cordoned the node."""
    messages = 'karpenter_interruption_received_messages_total{message_type="spot_interrupted"}'
    cordoned = f'{NODE}{{capacity_type="spot"}} and on (node) (max by (node) (kube_node_spec_unschedulable) == 1)'
    return Alert(
        name="SpotReclaim",
        expression=f"sum by (message_type) (increase({messages}[15m])) > 0 or count by (pool) ({cordoned})",
        after="0s",
        severity="info",
        summary="EC2 reclaims {{ $value | humanize }} Spot instances{{ with $labels.pool }} of {{ . }}{{ end }}.",
    )


def _seconds(duration: str) -> int:
    """Seconds of a duration of hours and minutes."""
    hours, _, rest = duration.rpartition("h")
    return int(hours or 0) * 3600 + int(rest.removesuffix("m") or 0) * 60
