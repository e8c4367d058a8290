"""Settings of the software on the cluster: one class an add-on, one file a family.

An add-on is on where the stack file names it, so a file reads as the list of what runs: `kueue: {}` with all defaults.
"""

from __future__ import annotations

from collections.abc import Iterator

from spec.settings.addons.base import AddonSettings
from spec.settings.addons.batch import (
    ArgoWorkflows,
    Jobset,
    Kueue,
    LeaderWorkerSet,
    Trainer,
    TrainingOperator,
    Volcano,
)
from spec.settings.addons.cost import Kubecost, Opencost
from spec.settings.addons.gpu import EfaDevicePlugin, GpuOperator
from spec.settings.addons.ingress import CertManager, GatewayApi, LoadBalancerController
from spec.settings.addons.observability import KubePrometheusStack
from spec.settings.addons.serving import Keda, Knative, Kserve
from spec.settings.addons.tracking import Mlflow
from spec.settings.base import Model

__all__ = ["AddonSettings", "Addons"]


class Addons(Model):
    """Every add-on that a stack may have, each at most once."""

    gpu_operator: GpuOperator | None = None
    """NVIDIA's device plugin, MIG manager and metrics."""
    efa_device_plugin: EfaDevicePlugin | None = None
    """Elastic Fabric Adapters as a resource."""
    kube_prometheus_stack: KubePrometheusStack | None = None
    """Metrics, alerts and dashboards."""
    opencost: Opencost | None = None
    """Cost by pod, the light way."""
    kubecost: Kubecost | None = None
    """Cost by team, kept and budgeted."""
    cert_manager: CertManager | None = None
    """Certificates for webhooks and endpoints."""
    load_balancer_controller: LoadBalancerController | None = None
    """AWS load balancers for Ingresses and Gateways."""
    gateway_api: GatewayApi | None = None
    """The CRDs of the Gateway API."""
    keda: Keda | None = None
    """Replicas by metrics and events."""
    kueue: Kueue | None = None
    """Queues with quotas and fair shares."""
    jobset: Jobset | None = None
    """Groups of Jobs that live together."""
    leader_worker_set: LeaderWorkerSet | None = None
    """A model over several nodes."""
    trainer: Trainer | None = None
    """TrainJobs on provided runtimes."""
    training_operator: TrainingOperator | None = None
    """PyTorchJob, TFJob and MPIJob of version 1."""
    argo_workflows: ArgoWorkflows | None = None
    """Pipelines of steps."""
    volcano: Volcano | None = None
    """A batch scheduler, in the place of Kueue."""
    knative: Knative | None = None
    """Replicas by requests."""
    kserve: Kserve | None = None
    """Models behind an address."""

    mlflow: Mlflow | None = None
    """Experiments, their files, and the registry of models."""

    def wanted(self) -> Iterator[tuple[str, AddonSettings]]:
        """Add-ons that are on, by their key in the stack file, in the order of this class."""
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            if value is not None:
                yield str(field.alias), value

    def has(self, kind: type[AddonSettings]) -> bool:
        """Whether an add-on is on."""
        return any(type(value) is kind for _, value in self.wanted())
