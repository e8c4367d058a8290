"""What an add-on is: a class that turns its settings and its context into parts, without touching the Pulumi engine.

    class Jobset(ChartAddOn[JobsetSettings]):
        name = "jobset"
        software = CHARTS["jobset"]

        def values(self, context: AddOnContext) -> dict[str, Any]:
            return {"controller": {"replicas": self.settings.replicas, **context.placement}}

Its settings class says what it requires, follows and excludes (`spec.settings.addons`), so that a stack file is checked
without a component. `components.addons.install` turns parts into resources, the same way for all add-ons.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Generic, TypeVar

import pulumi

from components.base.controllers import Controller, Scheduler
from components.base.iam import Inline, Managed
from components.base.outputs import Cluster, ClusterOutputs, NetworkOutputs, StorageOutputs
from components.base.placement import keeps_one, system_placement
from spec.catalog.software import Budget, ChartRef, PodSecurity, Software
from spec.pools.pool_spec import PoolSpec
from spec.settings.addons import Addons, AddonSettings
from spec.settings.addons.observability import KubePrometheusStack
from spec.settings.charts import Charts
from spec.settings.teams import Team

S = TypeVar("S", bound=AddonSettings)


@dataclass(frozen=True, kw_only=True)
class Namespace:
    """The namespace of an add-on. Add-ons that name the same namespace share it, and must agree on its level."""

    name: str
    enforce: PodSecurity | None
    """Enforced Pod Security level; None for a namespace that the platform doesn't create (`kube-system`)."""
    labels: Mapping[str, str] = field(default_factory=dict)  # labels in addition to those of Pod Security


KUBE_SYSTEM: Final = Namespace(name="kube-system", enforce=None)


@dataclass(frozen=True, kw_only=True)
class Permissions:
    """What a service account of the add-on may do in AWS, through EKS Pod Identity."""

    service_account: str  # name of the service account, in the add-on's namespace
    policy: Managed | Inline  # an AWS managed policy or an inline document
    role: str | None = None
    """Logical name of its role, for service accounts with a long name: project, stack and suffix use part of a role
    name's 64 characters (`spec.settings.checks.names.LONGEST`)."""


@dataclass(frozen=True, kw_only=True)
class ChartRelease:
    """One Helm release of an add-on; those of one add-on are installed one after another unless `independent`."""

    ref: ChartRef
    release_name: str  # name of the Helm release; also the suffix of the logical name
    values: Mapping[str, Any]  # values that differ from the chart's defaults; may contain Outputs
    skip_crds: bool = False  # don't install the chart's `crds/`, because another release installs them
    crds_only: bool = False
    """Installs CRDs and no pods: it needs no node and no other add-on, and add-ons that follow this one depend on this
    release alone."""
    volumes: bool = False
    """Its pods claim volumes of the default class: storage class and CSI driver are created before it and deleted after
    it."""
    independent: bool = False  # it doesn't wait for the add-on's releases before it


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Everything that an add-on consists of, in the order of creation."""

    permissions: Sequence[Permissions] = ()  # permissions in AWS; they are granted before the first release
    before: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Manifests that the releases need (ConfigMaps, Secrets), by key; the key is the suffix of the logical name."""
    releases: Sequence[ChartRelease] = ()  # Helm releases
    objects: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Manifests that need the releases' CRDs and webhooks, by key."""
    volumes: bool = False  # the pods of `objects` claim volumes of the default class, as those of a release


@dataclass(frozen=True, kw_only=True)
class AddOnFacts:
    """What an add-on may know before there is a cluster."""

    addons: Addons = field(default_factory=Addons)  # add-ons of the cluster
    pools: Mapping[str, PoolSpec] = field(default_factory=dict)
    teams: Mapping[str, Team] = field(default_factory=dict)
    charts: Charts = field(default_factory=Charts)  # where charts come from
    caches: Sequence[str] = ()  # registries with a pull-through cache
    environment: str = ""  # name of the environment, in messages
    topic: str | None = None  # ARN of the SNS topic of alerts; None if nobody gets them
    emails: Sequence[str] = ()  # addresses that get messages about budgets
    thresholds: Sequence[int] = ()  # percentages of a budget at which they get them
    private_cidrs: Sequence[str] = ()  # ranges of the VPC, of Services and of peers
    installed: Collection[str] = ()  # keys of add-ons that the cluster has, and that aren't installed


@dataclass(frozen=True, kw_only=True)
class AddOnSite(AddOnFacts):
    """What an add-on may know of the cluster that it is installed on, whoever made that."""

    cluster: Cluster

    @property
    def placement(self) -> dict[str, Any]:
        """`nodeSelector` and `tolerations` of a controller: the system pools and all their taints."""
        return system_placement(self.pools)

    @property
    def monitored(self) -> bool:
        """Whether Prometheus is enabled, so that its CRDs (ServiceMonitor) are installed."""
        return self.addons.has(KubePrometheusStack)


@dataclass(frozen=True, kw_only=True)
class AddOnContext(AddOnSite):
    """What an add-on may know of the stack's cluster."""

    cluster: ClusterOutputs
    network: NetworkOutputs
    storage: StorageOutputs  # buckets, file systems, database
    system_node_groups: Sequence[pulumi.Resource]  # node groups that run controllers


class AddOn(ABC, Generic[S]):
    """One add-on with its settings."""

    name: ClassVar[str]
    """Logical name, and name of its page in docs/addons: the key of the stack file in kebab-case."""
    software: ClassVar[Software]
    """What it installs."""
    namespace: ClassVar[Namespace]
    """Where its controllers are; by default as `software` says."""
    controllers: ClassVar[tuple[Controller, ...]] = ()
    """Its controllers that create or change objects in namespaces of teams."""
    scheduler: ClassVar[Scheduler | None] = None
    """How the pods of teams are given to it, if it schedules them."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "software" in vars(cls) and "namespace" not in vars(cls):
            own = cls.software.namespace
            cls.namespace = Namespace(name=own.name, enforce=own.pod_security) if own else KUBE_SYSTEM

    def __init__(self, settings: S) -> None:
        self.settings = settings

    def boundaries(self, _facts: AddOnFacts) -> Mapping[str, Mapping[str, Any]]:
        """What no chart brings and says who may do what: service accounts, roles, bindings and network policies, by the
        suffix of their logical name; `parts` declares them. The policy pack refuses others."""
        return {}

    @abstractmethod
    def parts(self, context: AddOnContext) -> Parts:
        """What it consists of in this context. Pure: it declares no resource and reads no file."""


class ChartAddOn(AddOn[S]):
    """An add-on of one Helm release of the chart's name: it says its values, and what it has beside the release."""

    software: ClassVar[ChartRef]
    volumes: ClassVar[bool] = False
    """The release's pods claim volumes of the default class."""

    @abstractmethod
    def values(self, context: AddOnContext) -> dict[str, Any]:
        """Values of the chart that differ from its defaults."""

    def permissions(self, context: AddOnContext) -> Sequence[Permissions]:  # noqa: ARG002 - for subclasses
        """Permissions in AWS: here none."""
        return ()

    def objects(self, context: AddOnContext) -> dict[str, Mapping[str, Any]]:  # noqa: ARG002 - for subclasses
        """Manifests that need the release's CRDs and webhooks, by key: here none."""
        return {}

    def parts(self, context: AddOnContext) -> Parts:
        """Permissions, boundaries, one release, objects, and a PodDisruptionBudget if there are several replicas."""
        release = ChartRelease(
            ref=self.software,
            release_name=self.software.name,
            values=self.values(context),
            volumes=self.volumes,
        )
        several = keeps_one(getattr(self.settings, "replicas", 1))
        budget = {"budget": self._budget(self.software.budget)} if self.software.budget and several else {}
        objects = {**self.objects(context), **budget}
        return Parts(
            permissions=self.permissions(context),
            before=self.boundaries(context),
            releases=[release],
            objects=objects,
        )

    def _budget(self, budget: Budget) -> dict[str, Any]:
        return {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": budget.name, "namespace": self.namespace.name},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": dict(budget.selects)}},
        }
