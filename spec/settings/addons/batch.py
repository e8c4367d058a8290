"""Settings of batch work and training: queues, kinds of jobs, workflows."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from spec.settings.addons.base import AddonSettings
from spec.settings.addons.ingress import Replicas
from spec.settings.addons.observability import KubePrometheusStack

MemoryGib = Annotated[int, Field(ge=1, le=64)]


class Volcano(AddonSettings):
    """Volcano: a batch scheduler with queues of its own, in the place of Kueue (chart volcano)."""

    follows: ClassVar[tuple[type[AddonSettings], ...]] = (KubePrometheusStack,)

    replicas: Replicas = 2
    """Pods each of scheduler, controller and admission, one of them leading."""


class Kueue(AddonSettings):
    """Queues with quotas, fair shares and preemption for jobs of every kind (chart kueue)."""

    follows: ClassVar[tuple[type[AddonSettings], ...]] = (KubePrometheusStack,)
    excludes: ClassVar[tuple[type[AddonSettings], ...]] = (Volcano,)

    replicas: Replicas = 2
    """Pods of the manager, one of them leading; its webhooks fail closed in the namespaces of teams."""
    memory_gib: MemoryGib = 1
    """Memory of each, in GiB: some 0.5 for every thousand workloads that wait."""
    fair_sharing: bool = True
    """Share what teams lend by weight; without, who comes first keeps it."""
    wait_for_pods_ready_minutes: Annotated[int, Field(ge=5, le=180)] = 20
    """How long an admitted job may take until all its pods run; then its quota goes to the next and it queues again."""
    backoff_limit_count: Annotated[int, Field(ge=0, le=100)] = 5
    """How often a job that does not start is queued again before it is deactivated."""
    after_finished_hours: Annotated[int, Field(ge=1, le=2160)] = 168
    """How long the record of a finished workload is kept."""
    multi_kueue: Literal["manager", "worker"] | None = None
    """Part in a MultiKueue: a manager hands workloads to workers; a worker is an ordinary cluster that takes them."""
    worker_lost_timeout_minutes: Annotated[int, Field(ge=1, le=1440)] = 15
    """A manager takes workloads back from a worker that it has not reached for so long."""


class Jobset(AddonSettings):
    """JobSet: groups of Jobs that start, fail and restart together (chart jobset)."""

    replicas: Replicas = 2
    """Pods of the controller, whose webhook fails closed for JobSets."""


class LeaderWorkerSet(AddonSettings):
    """LeaderWorkerSet: a model over several nodes, replicated as one (chart lws)."""

    follows: ClassVar[tuple[type[AddonSettings], ...]] = (KubePrometheusStack,)

    replicas: Replicas = 2
    """Pods of the controller, whose webhook fails closed for LeaderWorkerSets."""


class Trainer(AddonSettings):
    """Kubeflow Trainer v2: TrainJobs on runtimes that the platform provides (chart kubeflow-trainer)."""

    requires: ClassVar[tuple[type[AddonSettings], ...]] = (Jobset,)

    replicas: Replicas = 2
    """Pods of the controller, whose webhook fails closed for TrainJobs."""
    image: Annotated[str, Field(pattern=r"^[a-z0-9][a-zA-Z0-9._/:-]*[:@][A-Za-z0-9][A-Za-z0-9._:-]*$")] | None = None
    """Image of the runtimes `torch-distributed*`; a TrainJob may name another. PyTorch's own where not given."""


class TrainingOperator(AddonSettings):
    """Training operator v1: PyTorchJob, TFJob, MPIJob and their like, for code that still needs them."""

    kinds: tuple[Literal["PyTorchJob", "TFJob", "MPIJob", "XGBoostJob", "JAXJob", "PaddleJob"], ...] = (
        "PyTorchJob",
        "TFJob",
        "MPIJob",
    )
    """Kinds that it serves, at least one."""


class ArgoWorkflows(AddonSettings):
    """Argo Workflows: pipelines of steps, with artifacts in the bucket `state` (chart argo-workflows)."""

    follows: ClassVar[tuple[type[AddonSettings], ...]] = (KubePrometheusStack,)

    replicas: Replicas = 2
    """Pods each of controller, one of them leading, and server."""
    parallelism: Annotated[int, Field(ge=1, le=10000)] = 200
    """Workflows that run at a time, in the whole cluster."""
    namespace_parallelism: Annotated[int, Field(ge=1, le=10000)] = 50
    """Workflows that run at a time in one namespace."""
    keep_days: Annotated[int, Field(ge=1, le=365)] = 7
    """Days that a finished workflow can be looked at."""
