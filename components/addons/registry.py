"""Every add-on, by the settings class that enables it (explicit: there is no discovery), and their order: what an
add-on requires or follows comes before it.
"""

from collections.abc import Collection, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final

from components.addons.argo_workflows import ArgoWorkflows
from components.addons.batch import Jobset, Kuberay, LeaderWorkerSet
from components.addons.dra_driver import DraDriver
from components.addons.efa_device_plugin import EfaDevicePlugin
from components.addons.fluent_bit import FluentBit
from components.addons.gpu_operator import GpuOperator
from components.addons.image_preload import ImagePreload
from components.addons.ingress import CertManager, GatewayApi
from components.addons.katib import Katib
from components.addons.kserve import Kserve
from components.addons.kube_prometheus_stack import KubePrometheusStack
from components.addons.kubecost import Kubecost
from components.addons.kubeflow_pipelines import KubeflowPipelines
from components.addons.kueue import Kueue
from components.addons.load_balancer_controller import LoadBalancerController
from components.addons.mlflow import Mlflow
from components.addons.mpi_operator import MpiOperator
from components.addons.opencost import Opencost
from components.addons.schedulers import Volcano, Yunikorn
from components.addons.seldon_core import SeldonCore
from components.addons.serving import EndpointPicker, Keda, Knative
from components.addons.trainer import Trainer
from components.addons.training_operator import TrainingOperator
from components.base.addon import AddOn
from components.base.controllers import Controller, Scheduler
from spec.settings.addons import Addons, AddonSettings, batch, cost, gpu, ingress, observability, serving, tracking

Kinds = Mapping[str, type[AddonSettings]]


def before(kinds: Kinds) -> dict[str, tuple[str, ...]]:
    """For each enabled add-on, those that come directly before it, sorted.

    Args:
        kinds: Settings classes of the enabled add-ons, by name.

    Raises:
        ValueError: If one requires an add-on that isn't enabled, or two exclude each other; the message names both.
    """
    names = {kind: name for name, kind in kinds.items()}
    for name, kind in sorted(kinds.items()):
        for other in kind.requires:
            if other not in names:
                msg = f"{name} requires {other.__name__}, which is not enabled"
                raise ValueError(msg)
        for other in kind.excludes:
            if other in names:
                msg = f"{name} and {names[other]} exclude each other"
                raise ValueError(msg)
    return {
        name: tuple(sorted(names[other] for other in (*kind.requires, *kind.follows) if other in names))
        for name, kind in kinds.items()
    }


def sequence(kinds: Kinds) -> tuple[str, ...]:
    """Names in an order that satisfies `before`; deterministic for the same set.

    Raises:
        ValueError: As `before`, and for a cycle, with its path.
    """
    graph = before(kinds)
    try:
        return tuple(TopologicalSorter({name: graph[name] for name in sorted(graph)}).static_order())
    except CycleError as error:
        msg = f"add-ons depend on each other in a cycle: {' -> '.join(error.args[1])}"
        raise ValueError(msg) from None


REGISTRY: Final[dict[type[AddonSettings], type[AddOn[Any]]]] = {
    gpu.GpuOperator: GpuOperator,
    gpu.DraDriver: DraDriver,
    gpu.EfaDevicePlugin: EfaDevicePlugin,
    gpu.ImagePreload: ImagePreload,
    observability.KubePrometheusStack: KubePrometheusStack,
    observability.FluentBit: FluentBit,
    cost.Opencost: Opencost,
    cost.Kubecost: Kubecost,
    ingress.CertManager: CertManager,
    ingress.LoadBalancerController: LoadBalancerController,
    ingress.GatewayApi: GatewayApi,
    serving.Keda: Keda,
    serving.EndpointPicker: EndpointPicker,
    batch.Kueue: Kueue,
    batch.Jobset: Jobset,
    batch.LeaderWorkerSet: LeaderWorkerSet,
    batch.Trainer: Trainer,
    batch.TrainingOperator: TrainingOperator,
    batch.MpiOperator: MpiOperator,
    batch.Katib: Katib,
    batch.Kuberay: Kuberay,
    batch.ArgoWorkflows: ArgoWorkflows,
    batch.KubeflowPipelines: KubeflowPipelines,
    batch.Volcano: Volcano,
    batch.Yunikorn: Yunikorn,
    serving.Knative: Knative,
    serving.Kserve: Kserve,
    serving.SeldonCore: SeldonCore,
    tracking.Mlflow: Mlflow,
}


def wanted(addons: Addons, installed: Collection[str] = ()) -> dict[str, AddOn[Any]]:
    """Enabled add-ons, by name, without those of these keys, which the cluster has."""
    enabled = (_component(settings) for key, settings in addons.wanted() if key not in installed)
    return {addon.name: addon for addon in enabled}


def _component(settings: AddonSettings) -> AddOn[Any]:
    if (component := REGISTRY.get(type(settings))) is None:
        msg = f"{type(settings).__name__} has no component: add it to REGISTRY in components/addons/registry.py"
        raise TypeError(msg)
    return component(settings)


def controllers(addons: Addons) -> tuple[tuple[str, Controller], ...]:
    """Controllers of the enabled add-ons that act in namespaces of teams, with the namespaces of their accounts."""
    return tuple((addon.namespace.name, each) for addon in wanted(addons).values() for each in addon.controllers)


def scheduler(addons: Addons) -> Scheduler | None:
    """What schedules the pods of teams instead of kube-scheduler."""
    return next((addon.scheduler for addon in wanted(addons).values() if addon.scheduler), None)
