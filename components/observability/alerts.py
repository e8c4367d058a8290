"""The platform's alerts, in addition to those of kube-prometheus-stack for Kubernetes itself.

Each has a page in docs/runbooks, and a label `team` if it concerns a team's resources. Kueue's metrics are those of
kueue.sigs.k8s.io, "Prometheus Metrics" (read 2026-11); a ClusterQueue has the name of its team.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from components.observability.promql import NODE, POD_JOB, by_leader, of_team, renamed, with_team
from components.observability.recording import (
    EFA_RATIO,
    GPU_ACTIVE,
    GPU_LABELS,
    GPU_MEMORY,
    GPU_XID,
    TEAM_BUDGET,
    TEAM_COST,
)
from spec import strict_yaml
from spec.catalog import prices
from spec.settings.addons.observability import Alerts

_WORDS: Final[Mapping[str, Mapping[str, str]]] = strict_yaml.beside(__file__)


@dataclass(frozen=True, kw_only=True)
class Alert:
    """One alert."""

    name: str  # name in CamelCase: `GpuIdle`. Its page is docs/runbooks/gpu-idle.md
    expression: str  # PromQL expression; its label `team` names the team to notify
    after: str  # how long the expression must be true (`for`)
    severity: str  # how soon it needs attention
    summary: str  # one line for the recipient; may contain labels and the value

    @property
    def page(self) -> str:
        """File name of its runbook."""
        return f"{re.sub(r'(?<!^)(?=[A-Z])', '-', self.name).lower()}.md"

    def rule(self, runbooks: str | None) -> dict[str, Any]:
        """The rule in Prometheus' format.

        Args:
            runbooks: Base URL of the runbooks; if None, the path of the page in the project is used.
        """
        pages = (runbooks or "docs/runbooks").rstrip("/")
        return {
            "alert": self.name,
            "expr": self.expression,
            "for": self.after,
            "labels": {"severity": self.severity, "platform": "slipway"},
            "annotations": {"summary": self.summary, "runbook_url": f"{pages}/{self.page}"},
        }


def _alert(name: str, expression: str, after: str = "") -> Alert:
    """The alert of a name with its words; `after` only where a setting has it."""
    row = {"after": after, **_WORDS[name]}
    summary = row.pop("summary").replace("{after}", after)
    return Alert(name=name, expression=expression, summary=summary, **row)


IDLE: Final = 0.05  # utilization below which a GPU counts as idle
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
    return _alert("GpuIdle", f"{of_team(quiet)} < {IDLE}", after=settings.gpu_idle_after)


def errors() -> Alert:
    """The driver reports an error that a program can't cause."""
    hardware = " != ".join((f"{GPU_XID} > 0", *map(str, APPLICATION_XIDS)))
    return _alert("GpuErrors", with_team(hardware, GPU_LABELS))


def unrepaired() -> Alert:
    """A node reports broken GPUs and has not been replaced: Karpenter and EKS wait ten minutes, and then do it."""
    condition = 'condition="AcceleratedHardwareReady",status="false"'
    return _alert("GpuNodeNotRepaired", f"max by (node) (kube_node_status_condition{{{condition}}}) == 1")


def gpu_memory() -> Alert:
    """The memory of a GPU is almost used up: the next allocation fails in the program, and the job with it."""
    return _alert("GpuMemoryAlmostFull", with_team(f"{GPU_MEMORY} > {FULL}", GPU_LABELS))


def network_bound() -> Alert:
    """GPUs wait for the network: it is saturated and they are half idle."""
    gpus = f'avg by (node, namespace) ({GPU_ACTIVE}{{namespace!=""}})'
    return _alert(
        "TrainingNetworkBound",
        with_team(f"{gpus} < {HALF} and on (node) {EFA_RATIO} > {SATURATED}", ("node", "namespace")),
    )


MEMORY: Final = 0.9
CHECKPOINT: Final = "slipway_checkpoint_timestamp_seconds"
"""Unix time of the last checkpoint, which a training process can export on its port `metrics`
(docs/guides/alerts.md)."""
CLAIM: Final = "checkpoints"  # claim that a team's jobs write checkpoints to


def pending(settings: Alerts) -> Alert:
    """A pod can't be scheduled, or can't start on its node. Pods that Kueue has not admitted are excluded."""
    phase = 'max by (namespace, pod) (kube_pod_status_phase{phase="Pending"}) == 1'
    nowhere = "max by (namespace, pod) (kube_pod_status_unschedulable) == 1"
    placed = 'max by (namespace, pod) (kube_pod_status_scheduled{condition="true"}) == 1'
    stuck = f"{phase} and on (namespace, pod) ({nowhere} or {placed})"
    return _alert("PodPending", with_team(stuck, ("namespace", "pod")), after=settings.pending_after)


def job_memory() -> Alert:
    """A container is close to its memory limit."""
    by = "max by (namespace, pod, container)"
    used = f'{by} (container_memory_working_set_bytes{{container!="", image!=""}})'
    limit = f'{by} (kube_pod_container_resource_limits{{resource="memory"}})'
    return _alert("MemoryAlmostFull", with_team(f"{used} / {limit} > {MEMORY}", ("namespace", "pod", "container")))


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
    return _alert(
        "ContainerOomKilled",
        with_team(
            f"{ended} unless {same} {before} or {again} and {same} {restarted}", ("namespace", "pod", "container")
        ),
    )


@dataclass(frozen=True, kw_only=True)
class Checkpoints:
    """What is known of checkpoints, as expressions over `namespace` and `workload`.

    A volume has `kubelet_volume_stats_used_bytes` only if its CSI driver reports the usage. The EBS driver does; that
    of FSx for Lustre doesn't (kubernetes-sigs/aws-fsx-csi-driver v1.9.0, pkg/driver/node.go: `nodeCaps` is empty,
    `NodeGetVolumeStats` unimplemented), and that of EFS only on request, every four hours (aws-efs-csi-driver, chart
    4.4.1, `node.volMetricsOptIn`; read 2026-11). There only the process can say that it wrote a checkpoint."""

    running: str  # Jobs that run and mount the checkpoints
    reported: str  # unix time of the last checkpoint, of jobs whose processes export it
    changes: str  # changes of the volume's usage in the window, of namespaces whose volume reports it


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
    return _alert("CheckpointNotWritten", of_team(f"({old}) or ({unchanged})"), after=window)


def checkpoint_unknown(settings: Alerts) -> Alert:
    """Nothing shows whether a job writes checkpoints: neither its process nor the volume reports it."""
    known = _checkpoints(settings.checkpoint_every)
    return _alert(
        "CheckpointUnknown",
        of_team(
            f"{known.running} unless on (namespace, workload) {known.reported} unless on (namespace) {known.changes}"
        ),
    )


def runaway(settings: Alerts) -> Alert:
    """A job runs longer than the configured maximum."""
    started = f"{POD_JOB} * on (namespace, pod) group_left () max by (namespace, pod) (kube_pod_start_time)"
    running = 'max by (namespace, pod) (kube_pod_status_phase{phase="Running"}) == 1'
    age = f"time() - min by (namespace, workload) ({started} and on (namespace, pod) ({running}))"
    return _alert("JobRunaway", of_team(f"{age} > {_seconds(settings.runaway_after)}"))


def spot_reclaim() -> Alert:
    """EC2 reclaims Spot instances: Karpenter received the interruption notice, or EKS cordoned the node."""
    messages = 'karpenter_interruption_received_messages_total{message_type="spot_interrupted"}'
    cordoned = f'{NODE}{{capacity_type="spot"}} and on (node) (max by (node) (kube_node_spec_unschedulable) == 1)'
    return _alert(
        "SpotReclaim", f"sum by (message_type) (increase({messages}[15m])) > 0 or count by (pool) ({cordoned})"
    )


def _seconds(duration: str) -> int:
    """Seconds of a duration of hours and minutes."""
    hours, _, rest = duration.rpartition("h")
    return int(hours or 0) * 3600 + int(rest.removesuffix("m") or 0) * 60


CERTIFICATE_SECONDS: Final = 14 * 24 * 3600
"""cert-manager renews when a third of the lifetime is left: 30 of 90 days by default (cert-manager.io, "Certificate
resources"). At 14 days, renewal has failed for two weeks."""
FREE: Final = 0.1


def certificate() -> Alert:
    """A certificate wasn't renewed in time."""
    left = "certmanager_certificate_expiration_timestamp_seconds"
    return _alert("CertificateExpiring", f"min by (namespace, name) ({left}) - time() < {CERTIFICATE_SECONDS}")


def volume() -> Alert:
    """A volume is nearly full."""
    by = "min by (namespace, persistentvolumeclaim)"
    free = f"{by} (kubelet_volume_stats_available_bytes / kubelet_volume_stats_capacity_bytes) < {FREE}"
    return _alert("VolumeFull", with_team(free, ("namespace", "persistentvolumeclaim")))


def budget() -> Alert:
    """At this week's rate a team exceeds its monthly budget."""
    return _alert(
        "TeamOverBudget", f"avg_over_time({TEAM_COST}[7d]) * {prices.HOURS_PER_MONTH} > on (team) {TEAM_BUDGET}"
    )


WAITING: Final = f"sum by (cluster_queue) ({by_leader('kueue_pending_workloads')})"
ADMITTED: Final = "kueue_admitted_workloads_total"


def starving(settings: Alerts) -> Alert:
    """Workloads are pending and the queue admits none."""
    by, window = "sum by (cluster_queue)", "30m"
    # A counter begins with the first admission by a new leader or of a priority, which `increase` does not see.
    admitted = f"{by} (increase({ADMITTED}[{window}])) > 0 or {by} ({ADMITTED} unless {ADMITTED} offset {window}) > 0"
    return _alert(
        "QueueStarving",
        f"{renamed(WAITING, team='cluster_queue')} > 0 unless on (cluster_queue) ({admitted})",
        after=settings.queue_waits_at_most,
    )


def quota_full() -> Alert:
    """A queue uses all of its nominal quota of a resource, and workloads are pending."""
    by = "sum by (cluster_queue, resource)"
    used = f"{by} ({by_leader('kueue_cluster_queue_resource_usage')})"
    owned = f"{by} ({by_leader('kueue_cluster_queue_nominal_quota')}) > 0"
    full = f"{used} / on (cluster_queue, resource) ({owned}) >= 1"
    return _alert("QuotaFull", f"{renamed(f'({full})', team='cluster_queue')} and on (cluster_queue) {WAITING} > 0")


def all_alerts(settings: Alerts) -> dict[str, tuple[Alert, ...]]:
    """Every alert, by rule group."""
    return {
        "gpus": (idle(settings), errors(), unrepaired(), gpu_memory(), network_bound()),
        "jobs": (
            pending(settings),
            job_memory(),
            oom_killed(),
            checkpoint(settings),
            checkpoint_unknown(settings),
            runaway(settings),
            spot_reclaim(),
        ),
        "queues": (starving(settings), quota_full()),
        "platform": (certificate(), volume(), budget()),
    }
