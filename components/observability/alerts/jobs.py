"""Alerts about pods and jobs."""

from __future__ import annotations

from dataclasses import dataclass
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


def oom_killed() -> Alert:
    """The kernel killed a container at its memory limit.

    A container that doesn't restart keeps its last state, so only one that was not yet killed half an hour ago counts;
    one that restarts has the reason of its previous end and a restart since then (kube-state-metrics v2,
    docs/metrics/workload/pod-metrics.md; read 2026-11).
    """
    by, window = "max by (namespace, pod, container)", "30m"
    ended = f'{by} (kube_pod_container_status_terminated_reason{{reason="OOMKilled"}} == 1)'
    before = f'kube_pod_container_status_terminated_reason{{reason="OOMKilled"}} offset {window} == 1'
    again = f'{by} (kube_pod_container_status_last_terminated_reason{{reason="OOMKilled"}} == 1)'
    restarted = f"increase(kube_pod_container_status_restarts_total[{window}]) > 0"
    same = "on (namespace, pod, container)"
    return Alert(
        name="ContainerOomKilled",
        expression=with_team(
            f"{ended} unless {same} {before} or {again} and {same} {restarted}", ("namespace", "pod", "container")
        ),
        after="0s",
        severity="warning",
        summary="Container {{ $labels.container }} of {{ $labels.namespace }}/{{ $labels.pod }} was killed at its"
        " memory limit.",
    )


@dataclass(frozen=True, kw_only=True)
class Checkpoints:
    """What is known of checkpoints, as expressions over `namespace` and `workload`.

    A volume has `kubelet_volume_stats_used_bytes` only if its CSI driver reports the usage. The EBS driver does; that
    of FSx for Lustre doesn't (kubernetes-sigs/aws-fsx-csi-driver v1.9.0, pkg/driver/node.go: `nodeCaps` is empty,
    `NodeGetVolumeStats` unimplemented), and that of EFS only on request, every four hours (aws-efs-csi-driver, chart
    4.4.1, `node.volMetricsOptIn`; read 2026-11). There only the process can say that it wrote a checkpoint.

    Attributes:
        running: Jobs that run and mount the checkpoints.
        reported: Unix time of the last checkpoint, of jobs whose processes export it.
        changes: Changes of the volume's usage in the window, of namespaces whose volume reports it.
    """

    running: str
    reported: str
    changes: str


def _checkpoints(window: str) -> Checkpoints:
    by = "max by (namespace, workload)"
    mounts = f'kube_pod_spec_volumes_persistentvolumeclaims_info{{persistentvolumeclaim="{CLAIM}"}}'
    running = 'max by (namespace, pod) (kube_pod_status_phase{phase="Running"}) == 1'
    written = f"{POD_JOB} * on (namespace, pod) group_left () max by (namespace, pod) ({CHECKPOINT})"
    usage = f'kubelet_volume_stats_used_bytes{{persistentvolumeclaim="{CLAIM}"}}'
    return Checkpoints(
        running=f"{by} ({POD_JOB} and on (namespace, pod) ({mounts}) and on (namespace, pod) ({running}))",
        reported=f"{by} ({written})",
        changes=f"max by (namespace) (changes({usage}[{window}]))",
    )


def checkpoint(settings: Alerts) -> Alert:
    """A job that mounts the checkpoints writes none.

    The process's own metric counts if there is one; otherwise whether the usage of the claim's volume changed, where it
    is reported. A volume that several jobs share shows only that none of them writes.
    """
    window = settings.checkpoint_every
    known, same = _checkpoints(window), "on (namespace, workload)"
    old = f"{known.running} and {same} (time() - {known.reported} >= {_seconds(window)})"
    unchanged = f"{known.running} and on (namespace) ({known.changes} == 0) unless {same} {known.reported}"
    return Alert(
        name="CheckpointNotWritten",
        expression=of_team(f"({old}) or ({unchanged})"),
        after=window,
        severity="warning",
        summary=f"Job {{{{ $labels.workload }}}} of {{{{ $labels.team }}}} has written no checkpoint for {window}.",
    )


def checkpoint_unknown(settings: Alerts) -> Alert:
    """Nothing shows whether a job writes checkpoints: neither its process nor the volume reports it."""
    known = _checkpoints(settings.checkpoint_every)
    return Alert(
        name="CheckpointUnknown",
        expression=of_team(
            f"{known.running} unless on (namespace, workload) {known.reported} unless on (namespace) {known.changes}"
        ),
        after="30m",
        severity="info",
        summary="Nothing reports whether job {{ $labels.workload }} of {{ $labels.team }} writes checkpoints.",
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
