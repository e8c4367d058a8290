"""Settings of observability: metrics, alerts, dashboards and logs."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints

from spec.settings.addons.base import AddonSettings
from spec.settings.base import HTTPS, LogDays, Model, SecretName, WindowDuration, pattern

HttpsUrl = Annotated[str, HTTPS, StringConstraints(max_length=512)]
AlertDuration = Annotated[
    WindowDuration,
    pattern(
        r"^(([0-9]{1,2}|[12][0-9]{2}|3([0-2][0-9]|3[0-6]))h)?([0-9]{1,4}m)?$",
        rule="an alert comes within 336 hours, the longest that a job may run",
        fix="Write a shorter time, like 12h.",
    ),
]
"""With more an alert would be off, and no setting would say so."""


class Grafana(Model):
    """The Grafana server."""

    admin_secret: SecretName | None = None
    """Secret with `admin-user` and `admin-password` that you create in `monitoring`; without one there is no
    administrator, and everyone who can reach Grafana can read its dashboards."""


class Alerts(Model):
    """Thresholds of the platform's own alerts."""

    runbooks: HttpsUrl | None = None
    """URL under which docs/runbooks is published, for links in alerts; if unset, alerts name the page's path."""
    gpu_idle_after: AlertDuration = "1h"
    """How long a GPU that is allocated to a pod may be idle."""
    pending_after: AlertDuration = "30m"
    """How long a pod may be Pending; longer than Karpenter needs to start a node."""
    queue_waits_at_most: AlertDuration = "6h"
    """How long a workload may wait while its queue admits nothing."""
    checkpoint_every: AlertDuration = "2h"
    """How long a training job may run without writing a checkpoint."""
    runaway_after: AlertDuration = "72h"
    """How long a job may run."""


class KubePrometheusStack(AddonSettings):
    """Prometheus, Alertmanager, Grafana, and exporters for nodes and objects (chart kube-prometheus-stack)."""

    retention_days: Annotated[int, Field(ge=1, le=365)] = 15
    """Days that metrics are kept."""
    storage_gib: Annotated[int, Field(ge=10, le=16384)] = 50
    """Volume of each Prometheus, in GiB; the oldest metrics are deleted when it is nearly full."""
    memory_gib: Annotated[int, Field(ge=1, le=256)] = 4
    """Memory of each Prometheus, in GiB: about 8 KiB per series."""
    replicas: Annotated[int, Field(ge=1, le=2)] = 1
    """Replicas of Prometheus and Alertmanager; two collect everything twice and survive the loss of a node."""
    grafana: Grafana = Field(default_factory=Grafana)
    alerts: Alerts = Field(default_factory=Alerts)


class FluentBit(AddonSettings):
    """Fluent Bit on every node, which sends the logs of containers to AWS (chart fluent-bit)."""

    follows: ClassVar[tuple[type[AddonSettings], ...]] = (KubePrometheusStack,)

    destination: Literal["cloudwatch", "s3"] = "cloudwatch"
    """`cloudwatch`: a log group for each namespace of a team and one for the rest, with queries and alarms, billed by
    the GB written. `s3`: compressed files in the bucket `logs`, for a fraction of the cost, to be queried with
    Athena."""
    retention_days: LogDays = 30
    """Days that CloudWatch Logs keeps the logs; in S3 `storage.buckets.logDays` counts."""
