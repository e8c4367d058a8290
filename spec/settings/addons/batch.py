"""Settings of batch and training add-ons: queues, kinds of jobs, workflows."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field

from spec.settings.addons.base import AddonSettings
from spec.settings.addons.ingress import CertManager, Replicas
from spec.settings.addons.observability import KubePrometheusStack
from spec.settings.base import pattern
from spec.settings.storage import Database

MemoryGib = Annotated[int, Field(ge=1, le=64)]


class Yunikorn(AddonSettings):
    """Apache YuniKorn: a scheduler with a queue for each team (chart yunikorn)."""

    follows: ClassVar[tuple[type[AddonSettings], ...]] = (KubePrometheusStack,)

    memory_gib: MemoryGib = 2
    """Memory of the scheduler, in GiB. It has one replica: it elects no leader."""
    node_sort_policy: Literal["binpacking", "fair"] = "binpacking"
    """`binpacking` fills nodes, so that others can be removed; `fair` spreads pods over all nodes."""


class Volcano(AddonSettings):
    """Volcano: a batch scheduler with a queue for each team (chart volcano)."""

    follows: ClassVar[tuple[type[AddonSettings], ...]] = (KubePrometheusStack,)
    excludes: ClassVar[tuple[type[AddonSettings], ...]] = (Yunikorn,)

    replicas: Replicas = 2
    """Replicas each of scheduler, controller and admission webhook; one is the leader."""


class Jobset(AddonSettings):
    """JobSet: groups of Jobs that start, fail and restart together (chart jobset)."""

    replicas: Replicas = 2
    """Replicas of the controller, whose webhook fails closed for JobSets."""


class LeaderWorkerSet(AddonSettings):
    """LeaderWorkerSet: models that span several nodes, replicated as one unit (chart lws)."""

    follows: ClassVar[tuple[type[AddonSettings], ...]] = (KubePrometheusStack,)

    replicas: Replicas = 2
    """Replicas of the controller, whose webhook fails closed for LeaderWorkerSets."""


class Trainer(AddonSettings):
    """Kubeflow Trainer v2: TrainJobs on runtimes that the platform provides (chart kubeflow-trainer)."""

    requires: ClassVar[tuple[type[AddonSettings], ...]] = (Jobset,)

    replicas: Replicas = 2
    """Replicas of the controller, whose webhook fails closed for TrainJobs."""
    image: (
        Annotated[
            str,
            pattern(
                r"^[a-z0-9][a-zA-Z0-9._/:-]*[:@][A-Za-z0-9][A-Za-z0-9._:-]*$",
                rule="an image needs a tag or a digest",
                fix="Write it like registry.example.com/team/train:1.4.",
            ),
        ]
        | None
    ) = None
    """Image of the runtimes `torch-distributed*`; a TrainJob may name another. PyTorch's official image if unset."""


class Kueue(AddonSettings):
    """Queues with quotas, fair sharing and preemption for jobs of every kind (chart kueue)."""

    # Kueue takes up TrainJobs once, when their CRD is served. If those of Trainer's runtimes are not served yet, it
    # gives up until it is started again (kueue v0.19.2, jobframework/setup.go); its webhook refuses every TrainJob.
    follows: ClassVar[tuple[type[AddonSettings], ...]] = (KubePrometheusStack, Trainer)
    excludes: ClassVar[tuple[type[AddonSettings], ...]] = (Volcano, Yunikorn)

    replicas: Replicas = 2
    """Replicas of the manager, one of them the leader; its webhooks fail closed in team namespaces."""
    memory_gib: MemoryGib = 1
    """Memory of each replica, in GiB: about 0.5 per thousand pending workloads."""
    fair_sharing: bool = True
    """Share idle quota by weight; otherwise the first to borrow keeps it."""
    wait_for_pods_ready_minutes: Annotated[int, Field(ge=5, le=180)] = 20
    """Minutes until all pods of an admitted job must be ready; after that its quota is released and it is requeued."""
    backoff_limit_count: Annotated[int, Field(ge=0, le=100)] = 5
    """How often a job that does not start is requeued before it is deactivated."""
    after_finished_hours: Annotated[int, Field(ge=1, le=2160)] = 168
    """Hours that the Workload object of a finished job is kept."""
    multi_kueue: Literal["manager", "worker"] | None = None
    """Role in MultiKueue: a manager dispatches workloads to workers; a worker is an ordinary cluster that runs them."""
    worker_lost_timeout_minutes: Annotated[int, Field(ge=1, le=1440)] = 15
    """Minutes after which a manager takes workloads back from a worker that it can't reach."""


class TrainingOperator(AddonSettings):
    """Kubeflow training operator v1: PyTorchJob, TFJob and others, for code that still needs them."""

    follows: ClassVar[tuple[type[AddonSettings], ...]] = (Volcano,)

    replicas: Replicas = 2
    """Replicas of the operator, one of them the leader; its webhook fails closed for its kinds."""
    kinds: tuple[Literal["PyTorchJob", "TFJob", "XGBoostJob", "JAXJob", "PaddleJob"], ...] = ("PyTorchJob", "TFJob")
    """Kinds that it serves; at least one. For MPIJob use `mpiOperator`, whose CRD it would share."""


class MpiOperator(AddonSettings):
    """MPI Operator: MPIJob v2beta1, for Horovod, DeepSpeed and other programs that `mpirun` starts."""

    follows: ClassVar[tuple[type[AddonSettings], ...]] = (Volcano,)

    replicas: Replicas = 2
    """Replicas of the operator, one of them the leader."""


class Katib(AddonSettings):
    """Katib: experiments that search for hyperparameters, whose trials are queued jobs."""

    requires: ClassVar[tuple[type[AddonSettings], ...]] = (CertManager,)
    # It watches the kinds of trials that are served when it starts.
    follows: ClassVar[tuple[type[AddonSettings], ...]] = (Trainer, TrainingOperator, MpiOperator)

    replicas: Replicas = 2
    """Replicas of the controller, one of them the leader; its webhooks fail closed for Experiments and pods of jobs."""
    storage_gib: Annotated[int, Field(ge=1, le=1000)] = 10
    """Volume of the metrics of all trials, in GiB."""


class Kuberay(AddonSettings):
    """KubeRay: RayCluster, RayJob and RayService (chart kuberay-operator)."""

    follows: ClassVar[tuple[type[AddonSettings], ...]] = (KubePrometheusStack, Volcano)

    replicas: Replicas = 2
    """Replicas of the operator, one of them the leader."""
    memory_gib: MemoryGib = 1
    """Memory of each replica, in GiB: about 1 per thousand Ray pods."""


class ArgoWorkflows(AddonSettings):
    """Argo Workflows: workflows and pipelines, with artifacts in the bucket `state` (chart argo-workflows)."""

    follows: ClassVar[tuple[type[AddonSettings], ...]] = (KubePrometheusStack,)

    replicas: Replicas = 2
    """Replicas each of controller, one of them the leader, and server."""
    parallelism: Annotated[int, Field(ge=1, le=10000)] = 200
    """Maximum number of workflows that run at once in the cluster."""
    namespace_parallelism: Annotated[int, Field(ge=1, le=10000)] = 50
    """Maximum number of workflows that run at once in one namespace."""
    keep_days: Annotated[int, Field(ge=1, le=365)] = 7
    """Days that a finished workflow stays visible."""


class KubeflowPipelines(AddonSettings):
    """Kubeflow Pipelines: pipelines of the SDK `kfp`, a server for each of some namespaces, with a MySQL database."""

    requires: ClassVar[tuple[type[AddonSettings], ...]] = (ArgoWorkflows,)
    example: ClassVar[Mapping[str, Any]] = MappingProxyType({"namespaces": ("vision",)})

    namespaces: Annotated[tuple[str, ...], Field(min_length=1)]
    """Namespaces of teams with a server of their own, in whose quota and queue all of its runs are."""
    active_deadline_seconds: Annotated[int, Field(ge=60, le=1209600)] = 86400
    """Seconds after which a run is stopped."""
    database: Database = Field(default_factory=Database)
    """Database of pipelines, runs and metadata; artifacts are in the bucket `state`."""


SCHEDULERS: Final[tuple[type[AddonSettings], ...]] = (Volcano, Yunikorn)
"""Add-ons that schedule the pods of teams instead of kube-scheduler, in queues of their own."""
QUEUES: Final[tuple[type[AddonSettings], ...]] = (Kueue, *SCHEDULERS)
"""Add-ons of which a stack has one for the queues of its teams."""
