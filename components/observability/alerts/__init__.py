"""The platform's alerts, in addition to those of kube-prometheus-stack for Kubernetes itself.

Each has a page in docs/runbooks, and a label `team` if it concerns a team's resources.
"""

from __future__ import annotations

from components.observability.alerts import gpus, jobs, platform, queues
from components.observability.alerts.alert import Alert
from spec.settings.addons.observability import Alerts

__all__ = ["Alert", "all_alerts"]


def all_alerts(settings: Alerts) -> dict[str, tuple[Alert, ...]]:
    """Every alert, by rule group."""
    return {
        "gpus": (gpus.idle(settings), gpus.errors(), gpus.memory(), gpus.network_bound()),
        "jobs": (
            jobs.pending(settings),
            jobs.memory(),
            jobs.oom_killed(),
            jobs.checkpoint(settings),
            jobs.checkpoint_unknown(settings),
            jobs.runaway(settings),
            jobs.spot_reclaim(),
        ),
        "queues": (queues.starving(settings), queues.quota_full()),
        "platform": (platform.certificate(), platform.volume(), platform.budget()),
    }
