"""Alerts about certificates, volumes and budgets."""

from __future__ import annotations

from typing import Final

from components.observability.alerts.alert import Alert
from components.observability.promql import with_team
from components.observability.spend import TEAM_BUDGET, TEAM_COST
from spec.catalog import prices

CERTIFICATE_SECONDS: Final = 14 * 24 * 3600
"""cert-manager renews when a third of the lifetime is left: 30 of 90 days by default (cert-manager.io, "Certificate
resources"). At 14 days, renewal has failed for two weeks."""
FREE: Final = 0.1


def certificate() -> Alert:
    """A certificate wasn't renewed in time."""
    left = "certmanager_certificate_expiration_timestamp_seconds"
    return Alert(
        name="CertificateExpiring",
        expression=f"min by (namespace, name) ({left}) - time() < {CERTIFICATE_SECONDS}",
        after="1h",
        severity="critical",
        summary="Certificate {{ $labels.namespace }}/{{ $labels.name }} ends in {{ $value | humanizeDuration }}.",
    )


def volume() -> Alert:
    """A volume is nearly full."""
    by = "min by (namespace, persistentvolumeclaim)"
    free = f"{by} (kubelet_volume_stats_available_bytes / kubelet_volume_stats_capacity_bytes) < {FREE}"
    return Alert(
        name="VolumeFull",
        expression=with_team(free, ("namespace", "persistentvolumeclaim")),
        after="15m",
        severity="warning",
        summary="Volume {{ $labels.namespace }}/{{ $labels.persistentvolumeclaim }} has"
        " {{ $value | humanizePercentage }} left.",
    )


def budget() -> Alert:
    """At this week's rate a team exceeds its monthly budget."""
    return Alert(
        name="TeamOverBudget",
        expression=f"avg_over_time({TEAM_COST}[7d]) * {prices.HOURS_PER_MONTH} > on (team) {TEAM_BUDGET}",
        after="6h",
        severity="warning",
        summary="{{ $labels.team }} spends at a rate of {{ $value | humanize }} USD a month, over its budget.",
    )
