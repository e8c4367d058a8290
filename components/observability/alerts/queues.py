"""Alerts about queues and quotas (Kueue's metrics; kueue.sigs.k8s.io, "Prometheus Metrics", read 2026-11).

A ClusterQueue has the name of its team.
"""

from __future__ import annotations

from typing import Final

from components.observability.alerts.alert import Alert
from components.observability.promql import by_leader, renamed
from spec.settings.addons.observability import Alerts

WAITING: Final = f"sum by (cluster_queue) ({by_leader('kueue_pending_workloads')})"
ADMITTED: Final = "kueue_admitted_workloads_total"


def starving(settings: Alerts) -> Alert:
    """Workloads are pending and the queue admits none."""
    by, window = "sum by (cluster_queue)", "30m"
    # A counter begins with the first admission by a new leader or of a priority, which `increase` does not see.
    admitted = f"{by} (increase({ADMITTED}[{window}])) > 0 or {by} ({ADMITTED} unless {ADMITTED} offset {window}) > 0"
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
    used = f"{by} ({by_leader('kueue_cluster_queue_resource_usage')})"
    owned = f"{by} ({by_leader('kueue_cluster_queue_nominal_quota')}) > 0"
    full = f"{used} / on (cluster_queue, resource) ({owned}) >= 1"
    return Alert(
        name="QuotaFull",
        expression=f"{renamed(f'({full})', team='cluster_queue')} and on (cluster_queue) {WAITING} > 0",
        after="30m",
        severity="info",
        summary="Queue {{ $labels.cluster_queue }} uses {{ $value | humanizePercentage }} of its"
        " {{ $labels.resource }}, and workloads are pending.",
    )
