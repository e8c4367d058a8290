"""Alerts about queues and quotas (Kueue's metrics; kueue.sigs.k8s.io, "Prometheus Metrics", read 2026-11).

A ClusterQueue has the name of its team.
"""

from __future__ import annotations

from typing import Final

from components.observability.alerts.alert import Alert
from components.observability.promql import renamed
from spec.settings.addons.observability import Alerts

WAITING: Final = "sum by (cluster_queue) (kueue_pending_workloads)"


def starving(settings: Alerts) -> Alert:
    """Workloads are pending and the queue admits none."""
    admitted = "sum by (cluster_queue) (increase(kueue_admitted_workloads_total[30m])) > 0"
    return Alert(
        name="QueueStarving",
        expression=f"{renamed(WAITING, team='cluster_queue')} > 0 unless on (cluster_queue) ({admitted})",
        after=settings.queue_waits_at_most,
        severity="warning",
        summary="{{ $value }} workloads wait in queue {{ $labels.cluster_queue }} and none is admitted.",
    )


def quota_full() -> Alert:
    """A queue uses all of its nominal quota of a resource, and workloads are pending."""
    by = "sum by (cluster_queue, resource)"
    used, owned = f"{by} (kueue_cluster_queue_resource_usage)", f"{by} (kueue_cluster_queue_nominal_quota) > 0"
    full = f"{used} / on (cluster_queue, resource) ({owned}) >= 1"
    return Alert(
        name="QuotaFull",
        expression=f"{renamed(f'({full})', team='cluster_queue')} and on (cluster_queue) {WAITING} > 0",
        after="30m",
        severity="info",
        summary="Queue {{ $labels.cluster_queue }} uses {{ $value | humanizePercentage }} of its"
        " {{ $labels.resource }}, and workloads are pending.",
    )
