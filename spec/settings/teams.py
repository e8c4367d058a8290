"""Settings of one team: who is in it, where it works, its share of the machines, and what it may spend."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from spec.settings.base import Model, Name
from spec.settings.cluster import PrincipalArn

TagValue = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$")]
"""A value that is an AWS tag and a Kubernetes label at once: 63 letters, digits and _.- at most."""

CLAIMS_GIB = 103
"""What the volume claims of one namespace ask for, in GiB (`components.storage.volumes`): checkpoints, and one for each
volume that was made by hand."""


class MemberRole(StrEnum):
    """What a member may do in the team's namespaces."""

    ADMIN = "admin"
    """As `edit`, and network policies, ingresses and service accounts."""
    EDIT = "edit"
    """Workloads of every kind, their volumes and configuration; secrets are written and not read."""
    VIEW = "view"
    """Read all but secrets."""


class PriorityName(StrEnum):
    """The priorities of the platform, highest first; `components.tenancy.priorities` has their values."""

    PRODUCTION_INFERENCE = "production-inference"
    PRODUCTION_TRAINING = "production-training"
    INTERACTIVE = "interactive"
    EXPERIMENT = "experiment"


class Member(Model):
    """A person or group of persons, as one IAM role or user; each principal is in one team."""

    principal_arn: PrincipalArn
    """IAM role or user; it becomes an EKS access entry."""
    role: MemberRole = MemberRole.EDIT


class TeamNamespace(Model):
    """One namespace of a team."""

    purpose: Literal["general", "training", "serving", "interactive"] = "general"
    """What it is for: `serving` and `general` let load balancers in, the others do not."""
    pod_security: Literal["baseline", "restricted"] = "baseline"
    """Pod Security level that is enforced; `restricted` is warned of where it is not."""
    share: Annotated[int, Field(ge=1, le=100)] = 100
    """Part, in percent, of the team's machines and storage that this namespace may hold at once."""


class Share(Model):
    """A share of one pool, in whole GPUs of a GPU pool and in vCPUs of a CPU pool.

    What belongs to a GPU goes with it: its MIG instances or time slices, its part of the node's processors, memory and
    network adapters. Memory goes with a vCPU in the same way.
    """

    nominal_quota: Annotated[int, Field(ge=0, le=100_000)]
    """What the team has by right."""
    borrowing_limit: Annotated[int, Field(ge=0, le=100_000)] = 0
    """What it may take beyond that while other teams leave it idle; they get it back when they ask."""
    lending_limit: Annotated[int, Field(ge=0, le=100_000)] | None = None
    """What others may take of `nominalQuota` while it is idle; all of it where not given."""

    @property
    def maximum(self) -> int:
        """What the team may hold at once."""
        return self.nominal_quota + self.borrowing_limit

    @property
    def lendable(self) -> int:
        """What others may hold of it at once."""
        return self.nominal_quota if self.lending_limit is None else self.lending_limit


class Team(Model):
    """A team: a fair, bounded and isolated part of the cluster."""

    project: TagValue
    """What the work is for; becomes the label and tag `project`."""
    cost_center: TagValue
    """Where its bill goes; becomes the label `platform.slipway/cost-center`."""
    budget_usd: Annotated[int, Field(ge=1, le=100_000_000)] | None = None
    """What it may spend in a month, in USD; no alarm where not given."""
    members: dict[Name, Member] = Field(default_factory=dict)
    """Who works in it, by a name of yours."""
    namespaces: dict[Name, TeamNamespace] = Field(default_factory=dict)
    """Namespaces by what ends their name: `<team>-<key>`; one that is called like the team where none is given, or
    where the key is the team's name."""
    gpus: dict[Name, Share] = Field(default_factory=dict)
    """Shares of GPU pools, in whole GPUs, by pool."""
    cpus: dict[Name, Share] = Field(default_factory=dict)
    """Shares of CPU pools, in vCPUs, by pool."""
    storage_gib: Annotated[int, Field(ge=1, le=10_000_000)] = 1024
    """Storage that its volume claims may ask for in all, in GiB."""
    pods: Annotated[int, Field(ge=1, le=100_000)] = 500
    """Pods at once in one namespace, finished ones that still exist not counted."""
    weight: Annotated[int, Field(ge=1, le=100)] = 1
    """Weight of fair sharing: of what is idle, a team of weight 2 gets twice what one of weight 1 gets."""
    priorities: tuple[PriorityName, ...] = tuple(PriorityName)
    """Priorities that it may use."""
    retain: bool | None = None
    """Refuse to remove namespaces and volumes until the team is `retired`; as `environment.protect` where not
    given."""
    retired: bool = False
    """The team is being wound up: its queue is drained, its members read only, and its data may be removed. It is the
    confirmation that has to be given before a team leaves the file."""

    @property
    def shares(self) -> dict[str, Share]:
        """Shares of all pools."""
        return {**self.cpus, **self.gpus}

    def namespaces_of(self, team: str) -> dict[str, TeamNamespace]:
        """Its namespaces by their full name, sorted."""
        given = self.namespaces or {team: TeamNamespace()}
        named = {team if key == team else f"{team}-{key}": space for key, space in given.items()}
        return dict(sorted(named.items()))
