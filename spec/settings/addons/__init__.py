"""Settings of add-ons, the software on the cluster: one class per add-on, one file per family.

Naming an add-on in the stack file installs it: `kueue: {}` with all defaults.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from spec.settings.addons.base import AddonSettings
from spec.settings.addons.batch import (
    ArgoWorkflows,
    Jobset,
    Katib,
    KubeflowPipelines,
    Kuberay,
    Kueue,
    LeaderWorkerSet,
    MpiOperator,
    Trainer,
    TrainingOperator,
    Volcano,
    Yunikorn,
)
from spec.settings.addons.cost import Kubecost, Opencost
from spec.settings.addons.gpu import DraDriver, EfaDevicePlugin, GpuOperator, ImagePreload
from spec.settings.addons.ingress import CertManager, GatewayApi, LoadBalancerController
from spec.settings.addons.observability import FluentBit, KubePrometheusStack
from spec.settings.addons.serving import EndpointPicker, Keda, Knative, Kserve, SeldonCore
from spec.settings.addons.tracking import Mlflow
from spec.settings.base import Model
from spec.settings.storage import Database, EngineName

__all__ = ["AddonSettings", "Addons"]


@dataclass(frozen=True, kw_only=True)
class OwnDatabase:
    """The database of an add-on."""

    addon: str  # key of the add-on in the stack file
    engine: EngineName  # its engine
    settings: Database  # its settings


class Addons(Model):
    """Add-ons. Naming one installs it."""

    gpu_operator: GpuOperator | None = None
    """NVIDIA's device plugin, GPU labels and GPU metrics."""
    dra_driver: DraDriver | None = None
    """GPUs by claims of devices (Dynamic Resource Allocation)."""
    efa_device_plugin: EfaDevicePlugin | None = None
    """Elastic Fabric Adapters as an extended resource."""
    image_preload: ImagePreload | None = None
    """Images on nodes before a pod asks for them."""
    kube_prometheus_stack: KubePrometheusStack | None = None
    """Metrics, alerts and dashboards."""
    fluent_bit: FluentBit | None = None
    """Logs of containers in CloudWatch Logs or S3."""
    opencost: Opencost | None = None
    """Cost by pod, from Prometheus."""
    kubecost: Kubecost | None = None
    """Cost by team, with budgets and history in S3."""
    cert_manager: CertManager | None = None
    """Certificates for webhooks and endpoints."""
    load_balancer_controller: LoadBalancerController | None = None
    """AWS load balancers for Ingresses and Gateways."""
    gateway_api: GatewayApi | None = None
    """The CRDs of the Gateway API."""
    keda: Keda | None = None
    """Autoscaling by metrics and events."""
    endpoint_picker: EndpointPicker | None = None
    """Requests to the replica of a model that will answer them first."""
    kueue: Kueue | None = None
    """Queues with quotas and fair sharing."""
    jobset: Jobset | None = None
    """Groups of Jobs that start, fail and restart together."""
    leader_worker_set: LeaderWorkerSet | None = None
    """Models that span several nodes."""
    trainer: Trainer | None = None
    """TrainJobs on runtimes that the platform provides."""
    training_operator: TrainingOperator | None = None
    """PyTorchJob and TFJob (training operator v1)."""
    mpi_operator: MpiOperator | None = None
    """MPIJob (MPI Operator)."""
    katib: Katib | None = None
    """Experiments that search for hyperparameters (Katib)."""
    kuberay: Kuberay | None = None
    """RayCluster, RayJob and RayService (KubeRay)."""
    argo_workflows: ArgoWorkflows | None = None
    """Workflows and pipelines."""
    kubeflow_pipelines: KubeflowPipelines | None = None
    """Pipelines of the SDK `kfp`, on Argo Workflows."""
    volcano: Volcano | None = None
    """Batch scheduler with queues of teams, instead of Kueue."""
    yunikorn: Yunikorn | None = None
    """Scheduler with queues of teams, instead of Kueue."""
    knative: Knative | None = None
    """Autoscaling by requests."""
    kserve: Kserve | None = None
    """Model serving."""
    seldon_core: SeldonCore | None = None
    """Models that share servers; its licence limits use in production."""

    mlflow: Mlflow | None = None
    """Experiment tracking and model registry."""

    def wanted(self) -> Iterator[tuple[str, AddonSettings]]:
        """Installed add-ons, by their key in the stack file, in the order of this class."""
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            if value is not None:
                yield str(field.alias), value

    def databases(self) -> dict[str, OwnDatabase]:
        """Databases of the installed add-ons, by name."""
        found: dict[str, OwnDatabase] = {}
        if self.mlflow:
            found["mlflow"] = OwnDatabase(addon="mlflow", engine="postgres", settings=self.mlflow.database)
        if self.kubeflow_pipelines:
            settings = self.kubeflow_pipelines.database
            found["pipelines"] = OwnDatabase(addon="kubeflowPipelines", engine="mysql", settings=settings)
        return found

    @property
    def pipelined(self) -> tuple[str, ...]:
        """Namespaces with a server of Kubeflow Pipelines."""
        return self.kubeflow_pipelines.namespaces if self.kubeflow_pipelines else ()

    def has(self, kind: type[AddonSettings]) -> bool:
        """Whether an add-on is installed."""
        return any(type(value) is kind for _, value in self.wanted())
