"""Settings of one team: members, namespaces, shares of pools, budget."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from spec.settings.base import Model, Name, pattern
from spec.settings.cluster import PrincipalArn

TagValue = Annotated[
    str,
    pattern(
        r"^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$",
        rule="the value is used as a tag and a label: at most 63 letters, digits and _.-",
        fix="Shorten it; it must start and end with a letter or digit.",
    ),
]
"""A value that is used as an AWS tag and as a Kubernetes label: at most 63 letters, digits and _.-."""

ObjectCount = Annotated[
    str,
    pattern(
        r"^(configmaps|persistentvolumeclaims|secrets|services|count/[a-z]+(\.[a-z0-9.-]+)?)$",
        rule="a number of objects is named as in a ResourceQuota",
        fix="Write count/RESOURCE.GROUP, for example count/jobs.batch; configmaps, persistentvolumeclaims, secrets and "
        "services have no prefix.",
    ),
]
"""What a ResourceQuota counts (kubernetes.io, "Resource Quotas", object count quota). Load balancers and node ports are
not here: no team has any."""
CLAIMS_GIB = 103
"""Storage that the platform's own volume claims request in one namespace, in GiB (`components.storage.volumes`):
checkpoints, and one claim for each statically provisioned volume."""


class MemberRole(StrEnum):
    """Permissions of a member in the team's namespaces."""

    ADMIN = "admin"
    """Like `edit`, plus network policies, ingresses and service accounts."""
    EDIT = "edit"
    """Workloads of every kind, their volumes and configuration; secrets can be written but not read."""
    VIEW = "view"
    """Read everything except secrets."""


class PriorityName(StrEnum):
    """Priority classes of the platform, highest first (values: `components.tenancy.priorities`)."""

    PRODUCTION_INFERENCE = "production-inference"
    PRODUCTION_TRAINING = "production-training"
    INTERACTIVE = "interactive"
    EXPERIMENT = "experiment"


class Member(Model):
    """A person or a group, as one IAM role or user; a principal is a member of one team only."""

    principal_arn: PrincipalArn
    """IAM role or user; it becomes an EKS access entry."""
    role: MemberRole = MemberRole.EDIT


class TeamNamespace(Model):
    """One namespace of a team."""

    purpose: Literal["general", "training", "serving", "interactive"] = "general"
    """Purpose; `serving` and `general` admit traffic from load balancers, the others don't."""
    pod_security: Literal["baseline", "restricted"] = "baseline"
    """Pod Security level that is enforced; with `baseline`, violations of `restricted` cause warnings."""
    share: Annotated[int, Field(ge=1, le=100)] = 100
    """Maximum share of the team's quota and storage that this namespace may use at once, in percent."""


class Share(Model):
    """A share of one pool, in whole GPUs of a GPU pool or in vCPUs of a CPU pool.

    A GPU includes its MIG instances or time slices, and its part of the node's CPU, memory and network adapters. A vCPU
    includes its part of the memory.
    """

    nominal_quota: Annotated[int, Field(ge=0, le=100_000)]
    """Guaranteed quota of the team."""
    borrowing_limit: Annotated[int, Field(ge=0, le=100_000)] = 0
    """Quota that the team may borrow in addition while other teams leave it idle; the owners get it back on demand."""
    lending_limit: Annotated[int, Field(ge=0, le=100_000)] | None = None
    """Part of `nominalQuota` that other teams may borrow while it is idle; all of it if unset."""

    @property
    def maximum(self) -> int:
        """Maximum that the team may use at once."""
        return self.nominal_quota + self.borrowing_limit

    @property
    def lendable(self) -> int:
        """Maximum that other teams may borrow at once."""
        return self.nominal_quota if self.lending_limit is None else self.lending_limit


class Team(Model):
    """A team, with its isolated, limited and guaranteed part of the cluster."""

    project: TagValue
    """Project of the team; becomes the label and tag `project`."""
    cost_center: TagValue
    """Cost center that is billed; becomes the label `platform.slipway/cost-center`."""
    budget_usd: Annotated[int, Field(ge=1, le=100_000_000)] | None = None
    """Monthly budget, in USD; no alert if unset."""
    job_usd: Annotated[int, Field(ge=1, le=100_000_000)] | None = None
    """Most that the GPUs of one job may cost until its deadline, in USD. If unset a tenth of `budgetUsd`, three days of
    the month; without a budget three days of all GPUs that the team may use."""
    members: dict[Name, Member] = Field(default_factory=dict)
    """Members, by a name of your choice."""
    namespaces: dict[Name, TeamNamespace] = Field(default_factory=dict)
    """Namespaces by the suffix of their name, `<team>-<key>`. A key that equals the team's name gives a namespace of
    that name, and so does an empty map."""
    gpus: dict[Name, Share] = Field(default_factory=dict)
    """Shares of GPU pools, in whole GPUs, by pool."""
    cpus: dict[Name, Share] = Field(default_factory=dict)
    """Shares of CPU pools, in vCPUs, by pool."""
    storage_gib: Annotated[int, Field(ge=1, le=10_000_000)] = 1024
    """Total storage that the team's volume claims may request, in GiB."""
    pods: Annotated[int, Field(ge=1, le=100_000)] = 500
    """Maximum number of pods in one namespace; finished pods are not counted."""
    objects: dict[ObjectCount, Annotated[int, Field(ge=0, le=10_000)]] = Field(default_factory=dict)
    """Maximum number of objects in one namespace, by the name in a ResourceQuota: `count/deployments.apps`,
    `configmaps`. Every kind that a member can create has a default, 100 of most."""
    weight: Annotated[int, Field(ge=1, le=100)] = 1
    """Weight in fair sharing: of idle quota, a team of weight 2 gets twice as much as one of weight 1."""
    priorities: tuple[PriorityName, ...] = tuple(PriorityName)
    """Priority classes that the team may use."""
    retain: bool | None = None
    """Refuse to delete namespaces and volumes until the team is `retired`; the value of `environment.protect` if
    unset."""
    retired: bool = False
    """Decommission the team: its queue is drained, its members can only read, and its data may be deleted. Required
    before a team is removed from the file."""

    @property
    def shares(self) -> dict[str, Share]:
        """Shares of all pools."""
        return {**self.cpus, **self.gpus}

    def namespaces_of(self, team: str) -> dict[str, TeamNamespace]:
        """Namespaces by their full name, sorted."""
        given = self.namespaces or {team: TeamNamespace()}
        named = {team if key == team else f"{team}-{key}": space for key, space in given.items()}
        return dict(sorted(named.items()))

    @property
    def queue(self) -> str:
        """Name of the LocalQueue in its namespaces."""
        return "default"


class FoundTeam(Team):
    """Who uses a LocalQueue of a cluster without a stack file."""

    namespace: str
    local_queue: str

    def namespaces_of(self, team: str) -> dict[str, TeamNamespace]:  # noqa: ARG002 - as of every team
        """The namespace of the queue."""
        return {self.namespace: TeamNamespace()}

    @property
    def queue(self) -> str:
        """Name of the LocalQueue."""
        return self.local_queue
