"""Checks of teams: their members, namespaces, names and storage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from spec.catalog import names as limits
from spec.catalog import regions
from spec.naming import physical_length
from spec.settings.addons import Addons
from spec.settings.addons.batch import Kueue
from spec.settings.checks.base import Context
from spec.settings.checks.names import PROJECT
from spec.settings.cluster import Cluster
from spec.settings.environment import Account
from spec.settings.problems import Problem
from spec.settings.teams import CLAIMS_GIB, Team

Teams = Mapping[str, Team]

WORKLOAD_ROLE: Final = "space-{namespace}-role"
"""Logical name of the IAM role of a namespace's workloads."""
RESERVED_PREFIXES: Final = ("kube-", "openshift-", "eks-", "amazon-", "aws-")
RESERVED: Final = frozenset(
    {
        "argo",
        "cert-manager",
        "default",
        "external-secrets",
        "gpu-operator",
        "jobset-system",
        "keda",
        "knative-serving",
        "kourier-system",
        "kserve",
        "kubecost",
        "kubeflow",
        "kubeflow-system",
        "kuberay",
        "kueue-system",
        "logging",
        "lws-system",
        "mlflow",
        "monitoring",
        "mpi-operator",
        "opencost",
        "platform",
        "volcano-system",
    }
)
"""Namespaces of the cluster and of add-ons, installed or not, so that an add-on can be installed later."""
PLACES: Final = frozenset({"mlflow"})
"""Prefixes of add-ons in the buckets of teams (`components.addons.mlflow.values`), installed or not as above."""


def members_admitted(_context: Context, teams: Teams, account: Account, cluster: Cluster) -> Iterator[Problem]:
    """Each principal has one access entry, and so one team, and is of the region's partition."""
    if account.region not in regions.REGIONS:
        return
    partition = regions.partition(account.region)
    seen = {access.principal_arn: f"cluster.access.{name}" for name, access in cluster.access.items()}
    for team, settings in teams.items():
        for key, member in settings.members.items():
            path = f"teams.{team}.members.{key}.principalArn"
            arn = member.principal_arn
            if arn.split(":", 2)[1] != partition:
                rule = f"principals of {account.region} must be in the partition {partition}"
                yield Problem(path, rule, arn, f"Write it like arn:{partition}:iam::{account.id}:role/{team}.")
            if arn in seen:
                rule = f"EKS has one access entry for each principal, and {seen[arn]} already has it"
                yield Problem(path, rule, arn, "Remove one of the two, or use one role for each team.")
            seen.setdefault(arn, f"teams.{team}.members.{key}")


def places_own(_context: Context, teams: Teams) -> Iterator[Problem]:
    """A team's prefix in the buckets is the team's name, whatever the names of its namespaces."""
    for team, settings in teams.items():
        # `namespaces_own` reports a team whose namespace has an add-on's name.
        if team in PLACES and team not in settings.namespaces_of(team):
            rule = f"a team's prefix in the buckets is its name, and `{team}/` belongs to an add-on"
            yield Problem(f"teams.{team}", rule, team, "Choose another name.")


def namespaces_own(context: Context, teams: Teams) -> Iterator[Problem]:
    """Namespaces belong to one team each, not to an add-on or the cluster, and fit into AWS names."""
    owners: dict[str, str] = {}
    longest = limits.limit("iam-role").longest
    for team, settings in teams.items():
        for namespace in settings.namespaces_of(team):
            path = _path(team, settings, namespace)
            if namespace in RESERVED or namespace.startswith(RESERVED_PREFIXES):
                rule = "the namespace is reserved for the cluster or an add-on"
                yield Problem(path, rule, namespace, "Choose another name.")
            if namespace in owners:
                rule = f"each namespace belongs to one team, and {owners[namespace]} already has it"
                yield Problem(path, rule, namespace, "Choose another name.")
            owners.setdefault(namespace, f"teams.{team}")
            logical = WORKLOAD_ROLE.format(namespace=namespace)
            excess = physical_length(PROJECT, context.stack, logical) - longest
            if excess > 0:
                rule = (
                    f"the IAM role of the namespace, {PROJECT}-{context.stack}-{logical}-<7 digits>, exceeds {longest}"
                )
                fix = f"Shorten the team's or the namespace's name by {excess}."
                yield Problem(path, f"{rule} characters", longest + excess, fix)


def _path(team: str, settings: Team, namespace: str) -> str:
    if not settings.namespaces:
        return f"teams.{team}"
    return f"teams.{team}.namespaces.{namespace if namespace == team else namespace.removeprefix(f'{team}-')}"


def storage_enough(_context: Context, teams: Teams) -> Iterator[Problem]:
    """The platform's own claims in every namespace fit the team's storage."""
    for team, settings in teams.items():
        for namespace, space in settings.namespaces_of(team).items():
            if settings.storage_gib * space.share < CLAIMS_GIB * 100:
                minimum = -(-CLAIMS_GIB * 100 // space.share)
                rule = (
                    f"the claims of {namespace} request {CLAIMS_GIB} GiB, from its {space.share} percent of the storage"
                )
                yield Problem(f"teams.{team}.storageGib", rule, settings.storage_gib, f"Use {minimum} or more.")


def parts_add_up(_context: Context, teams: Teams, addons: Addons) -> Iterator[Problem]:
    """Without Kueue, only the shares of its namespaces limit a team, so they must not exceed the whole."""
    if addons.has(Kueue):
        return
    for team, settings in teams.items():
        parts = sum(space.share for space in settings.namespaces_of(team).values())
        if parts > 100:
            rule = "without Kueue, the shares of a team's namespaces must add up to at most 100 percent"
            fix = "Set `share` of each, or add `kueue: {}` to addons."
            yield Problem(f"teams.{team}.namespaces", rule, parts, fix)
