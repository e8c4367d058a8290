"""Alerts of queues and quotas (Kueue's metrics; kueue.sigs.k8s.io, "Prometheus Metrics", read 2026-11).

A ClusterQueue is named as its team.
"""

from __future__ import annotations

from typing import Final

from components.observability.alerts.alert import Alert
from components.observability.promql import renamed
from spec.settings.addons.observability import Alerts

WAITING: Final = "sum by (cluster_queue) (kueue_pending_workloads)"


def starving(settings: Alerts) -> Alert:
    """Work waits and none of the queue's is let in."""
    admitted = "sum by (cluster_queue) (increase(kueue_admitted_workloads_total[30m])) > 0"
    return Alert(
        name="QueueStarving",
        expression=f"{renamed(WAITING, team='cluster_queue')} > 0 unless on (cluster_queue) ({admitted})",
        after=settings.queue_waits_at_most,
        severity="warning",
        summary="{{ $value }} workloads wait in queue {{ $labels.cluster_queue }} and none is admitted.",
    )


def quota_full() -> Alert:
    """A queue uses all that it owns of a resource, and more waits."""
    by = "sum by (cluster_queue, resource)"
    used, owned = f"{by} (kueue_cluster_queue_resource_usage)", f"{by} (kueue_cluster_queue_nominal_quota) > 0"
    full = f"{used} / on (cluster_queue, resource) ({owned}) >= 1"
    return Alert(
        name="QuotaFull",
        expression=f"{renamed(f'({full})', team='cluster_queue')} and on (cluster_queue) {WAITING} > 0",
        after="30m",
        severity="info",
        summary="Queue {{ $labels.cluster_queue }} uses {{ $value | humanizePercentage }} of its"
        " {{ $labels.resource }}, and more waits.",
    )
