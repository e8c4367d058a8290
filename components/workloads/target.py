"""What a workload must know of the platform that it is for, as one plain value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import pulumi

from components.addons.kserve.runtimes import runtimes
from components.tenancy.network_policies import SERVES
from spec.pools import PoolSpec, resolve_all
from spec.settings import Platform, load, read_stack
from spec.settings.addons import AddonSettings
from spec.settings.problems import ConfigurationError, Problem
from spec.settings.teams import PriorityName
from spec.teams import labels

PRIORITIES: Final = tuple(str(name) for name in PriorityName)
"""Priority classes of the platform, the highest first. Each exists as PriorityClass (which pod is evicted from a node)
and as WorkloadPriorityClass (which job is evicted from a queue)."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """A namespace on a platform, and what there is for workloads in it.

    Attributes:
        pools: Pools by name.
        namespace: Namespace of a team.
        queue: LocalQueue of the namespace; None where nothing is queued.
        shares: What the team may hold at once of each pool, in whole GPUs or, of CPU pools, vCPUs; None where that is
            unknown, and nothing is refused for it.
        priorities: Names of the priority classes that the team may use.
        claims: Volume claims that are there, by what they hold.
        storage_class: StorageClass of disks of one pod.
        service_account: Account with the team's rights in AWS.
        open: Whether load balancers may reach pods of the namespace.
        labels: Labels of every object and pod: team, project, who pays.
        cluster: Name of the cluster, the context of a kubeconfig; empty where unknown.
        region: AWS Region.
        addons: What is installed; None where that is unknown, and nothing is refused for want of it.
        runtimes: Model servers of the platform, by name; None where that is unknown.
        after: What must stand before: namespace, queue, volume claims, where the same program makes them.
    """

    pools: Mapping[str, PoolSpec]
    namespace: str
    queue: str | None = "default"
    shares: Mapping[str, int] | None = None
    priorities: tuple[str, ...] = PRIORITIES
    claims: Mapping[str, str] = field(
        default_factory=lambda: {name: name for name in ("raw", "datasets", "checkpoints", "models")}
    )
    storage_class: str = "gp3"
    service_account: str = "workload"
    open: bool = True
    labels: Mapping[str, str] = field(default_factory=dict)
    cluster: str = ""
    region: str = ""
    addons: frozenset[type[AddonSettings]] | None = None
    runtimes: frozenset[str] | None = None
    after: Sequence[pulumi.Resource] = ()

    @classmethod
    def of(cls, platform: Platform, *, namespace: str) -> Target:
        """The target that a platform's settings describe.

        Raises:
            ConfigurationError: For a namespace that is no team's, where the platform has teams.
        """
        common = cls(
            pools=resolve_all(platform),
            namespace=namespace,
            labels={labels.TEAM: namespace},
            cluster=platform.cluster_name,
            region=platform.account.region,
            addons=frozenset(type(settings) for _, settings in platform.addons.wanted()),
            runtimes=_runtimes(platform),
        )
        if not platform.teams:
            return common
        for name, team in platform.teams.items():
            if space := team.namespaces_of(name).get(namespace):
                return replace(
                    common,
                    labels=labels.of_team(name, team),
                    shares={pool: share.maximum for pool, share in team.shares.items()},
                    priorities=tuple(str(priority) for priority in team.priorities),
                    open=space.purpose in SERVES,
                )
        known = sorted(each for name, team in platform.teams.items() for each in team.namespaces_of(name))
        fix = f"Use one of {', '.join(known)}, or add a team to the stack file."
        raise ConfigurationError([Problem("namespace", "it must be a team's", namespace, fix)], "target")

    @classmethod
    def from_stack_file(cls, stack: str, directory: Path, *, namespace: str) -> Target:
        """The target that `Pulumi.<stack>.yaml` of a directory describes. Needs neither engine nor cloud.

        Raises:
            ConfigurationError: For a file that is missing or wrong, or a namespace that is no team's.
        """
        return cls.of(load(read_stack(stack, directory), stack=stack).platform, namespace=namespace)


def _runtimes(platform: Platform) -> frozenset[str]:
    kserve = platform.addons.kserve
    return frozenset(runtimes(resolve_all(platform), kserve.runtimes)) if kserve else frozenset()
