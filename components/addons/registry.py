"""Every add-on, by the settings class that enables it. Explicit: there is no discovery."""

from __future__ import annotations

from typing import Any, Final

from components.addons.argo_workflows import ArgoWorkflows
from components.addons.cert_manager import CertManager
from components.addons.efa_device_plugin import EfaDevicePlugin
from components.addons.fluent_bit import FluentBit
from components.addons.gateway_api import GatewayApi
from components.addons.gpu_operator import GpuOperator
from components.addons.jobset import Jobset
from components.addons.keda import Keda
from components.addons.knative import Knative
from components.addons.kserve import Kserve
from components.addons.kube_prometheus_stack import KubePrometheusStack
from components.addons.kubecost import Kubecost
from components.addons.kuberay import Kuberay
from components.addons.kueue import Kueue
from components.addons.leader_worker_set import LeaderWorkerSet
from components.addons.load_balancer_controller import LoadBalancerController
from components.addons.mlflow import Mlflow
from components.addons.mpi_operator import MpiOperator
from components.addons.opencost import Opencost
from components.addons.trainer import Trainer
from components.addons.training_operator import TrainingOperator
from components.addons.volcano import Volcano
from components.base.addon import AddOn
from components.base.controllers import Controller
from spec.settings.addons import Addons, AddonSettings, batch, cost, gpu, ingress, observability, serving, tracking

REGISTRY: Final[dict[type[AddonSettings], type[AddOn[Any]]]] = {
    gpu.GpuOperator: GpuOperator,
    gpu.EfaDevicePlugin: EfaDevicePlugin,
    observability.KubePrometheusStack: KubePrometheusStack,
    observability.FluentBit: FluentBit,
    cost.Opencost: Opencost,
    cost.Kubecost: Kubecost,
    ingress.CertManager: CertManager,
    ingress.LoadBalancerController: LoadBalancerController,
    ingress.GatewayApi: GatewayApi,
    serving.Keda: Keda,
    batch.Kueue: Kueue,
    batch.Jobset: Jobset,
    batch.LeaderWorkerSet: LeaderWorkerSet,
    batch.Trainer: Trainer,
    batch.TrainingOperator: TrainingOperator,
    batch.MpiOperator: MpiOperator,
    batch.Kuberay: Kuberay,
    batch.ArgoWorkflows: ArgoWorkflows,
    batch.Volcano: Volcano,
    serving.Knative: Knative,
    serving.Kserve: Kserve,
    tracking.Mlflow: Mlflow,
}


def wanted(addons: Addons) -> dict[str, AddOn[Any]]:
    """Enabled add-ons, by name."""
    enabled = (REGISTRY[type(settings)](settings) for _, settings in addons.wanted())
    return {addon.name: addon for addon in enabled}


def controllers(addons: Addons) -> tuple[tuple[str, Controller], ...]:
    """Controllers of the enabled add-ons that act in namespaces of teams, with the namespaces of their accounts."""
    return tuple((addon.namespace.name, each) for addon in wanted(addons).values() for each in addon.controllers)
