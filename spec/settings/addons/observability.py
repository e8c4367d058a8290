"""Settings of observability: metrics, alerts and dashboards."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from spec.settings.addons.base import AddonSettings
from spec.settings.base import Model, WindowDuration

SecretName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$")]
"""Name of a Secret in the namespace `monitoring`."""
HttpsUrl = Annotated[str, StringConstraints(pattern=r"^https://\S+$", max_length=512)]


class Grafana(Model):
    """The dashboards' server."""

    admin_secret: SecretName | None = None
    """Secret with `admin-user` and `admin-password` that you keep in `monitoring`; without one there is no
    administrator, and who reaches Grafana reads its dashboards."""


class Alerts(Model):
    """When the platform's own alerts fire."""

    runbooks: HttpsUrl | None = None
    """Where docs/runbooks is served, so that an alert links to its page; without it, alerts name the page's path."""
    gpu_idle_after: WindowDuration = "1h"
    """How long a GPU that a pod holds may do nothing."""
    pending_after: WindowDuration = "30m"
    """How long a pod may wait for a node; longer than Karpenter needs to make one."""
    queue_waits_at_most: WindowDuration = "6h"
    """How long a workload may wait in its queue while nothing of the queue is admitted."""
    checkpoint_every: WindowDuration = "2h"
    """How long training may go without writing a checkpoint."""
    runaway_after: WindowDuration = "72h"
    """How long one job may run."""


class KubePrometheusStack(AddonSettings):
    """Prometheus, Alertmanager, Grafana, and what measures nodes and objects (chart kube-prometheus-stack)."""

    retention_days: Annotated[int, Field(ge=1, le=365)] = 15
    """Days that metrics are kept."""
    storage_gib: Annotated[int, Field(ge=10, le=16384)] = 50
    """Volume of each Prometheus, in GiB; the oldest metrics go when it is nearly full."""
    memory_gib: Annotated[int, Field(ge=1, le=256)] = 4
    """Memory of each Prometheus, in GiB: about 8 KiB a series."""
    replicas: Annotated[int, Field(ge=1, le=2)] = 1
    """Prometheus servers and Alertmanagers; two see everything twice and survive a node."""
    grafana: Grafana = Field(default_factory=Grafana)
    alerts: Alerts = Field(default_factory=Alerts)
