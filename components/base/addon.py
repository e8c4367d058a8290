"""What an add-on is: a class that turns its settings and its site into parts, and nothing that touches the engine.

    class Jobset(AddOn[JobsetSettings]):
        name = "jobset"
        namespace = Namespace("jobset-system")

        def parts(self, site: Site) -> Parts:
            return Parts(releases=[ChartRelease(ref=JOBSET, release_name="jobset", values=values(self.settings))])

What requires, follows and excludes what is said by its settings (`spec.settings.addons`), so that a stack file is
checked without a component. How parts become resources is `components.addons.software`, the same for all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Literal, TypeVar

import pulumi

from components.base.iam import Inline, Managed
from components.base.outputs import ClusterOutputs, NetworkOutputs, StorageOutputs
from spec.catalog.charts import ChartRef
from spec.pools.pool_spec import PoolSpec
from spec.settings.addons import AddonSettings
from spec.settings.platform import Platform

S = TypeVar("S", bound=AddonSettings)

PodSecurity = Literal["privileged", "baseline", "restricted"]
"""Pod Security Standards (kubernetes.io, "Pod Security Standards")."""


@dataclass(frozen=True, kw_only=True)
class Namespace:
    """Where an add-on lives. Add-ons that name the same namespace share it, and must agree on its level.

    Attributes:
        name: Name of the namespace.
        enforce: Pod Security level that is enforced; None for a namespace that is not ours (`kube-system`).
        labels: Labels beside those of Pod Security.
    """

    name: str
    enforce: PodSecurity | None
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Permissions:
    """What a service account of the add-on may do in AWS, through EKS Pod Identity.

    Attributes:
        service_account: Name of the service account, in the add-on's namespace.
        policy: An AWS managed policy or a document of ours.
        role: Logical name of its role, where the account's is long: of the 64 characters of a role's name, project,
            stack and suffix take their part (`spec.settings.checks.names.LONGEST`).
    """

    service_account: str
    policy: Managed | Inline
    role: str | None = None


@dataclass(frozen=True, kw_only=True)
class ChartRelease:
    """One Helm release of an add-on; those of one add-on are installed one after another.

    Attributes:
        ref: The chart.
        release_name: Name for Helm; also the suffix of the logical name.
        values: Values, differing from the chart's own; may hold Outputs.
        skip_crds: Leave `crds/` of the chart alone, where a release of their own brings them.
        definitions: Kinds and no pods: it needs no node and no other add-on, and who follows this add-on waits for it
            alone.
        volumes: Its pods claim volumes of the default class: class and driver stand before it, and go after it.
    """

    ref: ChartRef
    release_name: str
    values: Mapping[str, Any]
    skip_crds: bool = False
    definitions: bool = False
    volumes: bool = False


@dataclass(frozen=True, kw_only=True)
class Parts:
    """All that an add-on consists of, in the order in which it is made.

    Attributes:
        permissions: Rights in AWS; they stand before the first release.
        before: Manifests that the releases need (config maps, secrets), by key; the key ends the logical name.
        releases: Helm releases.
        objects: Manifests that need the releases' CRDs and webhooks, by key.
    """

    permissions: Sequence[Permissions] = ()
    before: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    releases: Sequence[ChartRelease] = ()
    objects: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class AddOnContext:
    """What an add-on may know of the platform that it stands on.

    Attributes:
        platform: All settings.
        cluster: The cluster.
        network: The network.
        pools: Pools by name.
        storage: Buckets, file systems, database.
        system_node_groups: Node groups on which controllers run.
    """

    platform: Platform
    cluster: ClusterOutputs
    network: NetworkOutputs
    pools: Mapping[str, PoolSpec]
    storage: StorageOutputs
    system_node_groups: Sequence[pulumi.Resource]


class AddOn(ABC, Generic[S]):
    """One add-on with its settings."""

    name: ClassVar[str]
    """Logical name and name of its page in docs/addons: the key of the stack file in kebab-case."""
    namespace: ClassVar[Namespace]

    def __init__(self, settings: S) -> None:
        self.settings = settings

    @abstractmethod
    def parts(self, context: AddOnContext) -> Parts:
        """What it consists of on this site. Pure: no resource is made, no file is read."""
