"""Checks of a scheduler in place of kube-scheduler: what a team's settings promise and it can't keep is refused."""

from collections.abc import Iterator, Mapping
from typing import Final

from spec.catalog import kubernetes, mig
from spec.settings.addons import Addons, AddonSettings
from spec.settings.addons.batch import SCHEDULERS, Volcano, Yunikorn
from spec.settings.checks.addons import key_of
from spec.settings.checks.base import Context
from spec.settings.checks.machines import known_types
from spec.settings.cluster import Cluster
from spec.settings.pools import Pool, Provisioner
from spec.settings.problems import Problem
from spec.settings.queues import Queues
from spec.settings.teams import Team

Teams = Mapping[str, Team]
LONGEST: Final = 26
"""Characters of a namespace before the UID of an owner, in a label of at most 63."""


def _chosen(addons: Addons) -> type[AddonSettings] | None:
    return next(filter(addons.has, SCHEDULERS), None)


def version_served(_context: Context, addons: Addons, cluster: Cluster) -> Iterator[Problem]:
    """The API server can write the scheduler into pods."""
    chosen, minor = _chosen(addons), kubernetes.minor(cluster.version)
    if chosen is not None and minor is not None and minor < kubernetes.MUTATES:
        needed = f"1.{kubernetes.MUTATES}"
        rule = f"{key_of(chosen)} needs Kubernetes {needed}, whose API server writes schedulerName into every pod"
        yield Problem(f"addons.{key_of(chosen)}", rule, cluster.version, f'Set `cluster.version: "{needed}"`.')


def shares_kept(_context: Context, addons: Addons, teams: Teams, queues: Queues) -> Iterator[Problem]:
    """Settings of teams and queues that only Kueue has."""
    chosen = _chosen(addons)
    if chosen is None:
        return
    name = key_of(chosen)
    if queues != Queues():
        given = sorted(queues.model_dump(exclude_defaults=True, by_alias=True))
        fix = "Remove them, or use `kueue: {}`."
        yield Problem("queues", f"these are settings of Kueue's queues, and {name} has none of them", given, fix)
    for team, settings in teams.items():
        if settings.weight != 1:
            rule = f"{name} shares idle quota by what queues are guaranteed, not by weight"
            yield Problem(f"teams.{team}.weight", rule, settings.weight, "Remove it, or use `kueue: {}`.")
        for kind, shares in (("gpus", settings.gpus), ("cpus", settings.cpus)):
            for pool, share in shares.items():
                if chosen is Yunikorn and share.lending_limit is not None:
                    path = f"teams.{team}.{kind}.{pool}.lendingLimit"
                    rule = f"a queue of {name} lends all that it doesn't use"
                    yield Problem(path, rule, share.lending_limit, "Remove it, or use `kueue: {}` or `volcano: {}`.")


def pools_distinct(_context: Context, addons: Addons, teams: Teams, pools: Mapping[str, Pool]) -> Iterator[Problem]:
    """A queue counts a resource over all pools, so a share of one pool could be used on another."""
    chosen = _chosen(addons)
    if chosen is None:
        return
    owners: dict[str, str] = {}
    for pool in sorted({pool for team in teams.values() for pool in team.shares if pool in pools}):
        for resource in sorted(_resources(pools[pool])):
            if resource in owners:
                rule = f"a queue of {key_of(chosen)} counts {resource} of all pools, and {owners[resource]} has it, too"
                fix = "Use one pool, MIG layouts without a profile in common, or `kueue: {}`."
                yield Problem(f"pools.{pool}", rule, resource, fix)
            owners.setdefault(resource, pool)


def _resources(pool: Pool) -> set[str]:
    """What its pods ask for: profiles of MIG, whole GPUs, or vCPUs."""
    kinds = known_types(pool)
    gpu = kinds[0].gpu_name if kinds else None
    if gpu is None:
        return {"vCPUs"} if kinds else set()
    layout = pool.mig.profiles if pool.mig else {}
    if pool.mig is not None and pool.mig.layout is not None:
        layout = mig.named_layout(pool.mig.layout, gpu) or {}
    return set(mig.resources(layout, 1))


def nodes_there(_context: Context, addons: Addons, teams: Teams, pools: Mapping[str, Pool]) -> Iterator[Problem]:
    """Volcano admits a job only to nodes that exist: the capability of its queues is at most what the cluster has
    (volcano v1.15.1, pkg/scheduler/plugins/capacity, `realCapability`), so no autoscaler hears of the others."""
    if not addons.has(Volcano):
        return
    shared = {pool for team in teams.values() for pool in team.shares}
    for name, pool in pools.items():
        if name in shared and (pool.provisioner is Provisioner.KARPENTER or pool.min != pool.max):
            rule = "Volcano starts no job for nodes that don't exist yet, so a pool of teams has a fixed size"
            given = {"provisioner": str(pool.provisioner), "min": pool.min, "max": pool.max}
            fix = f"Set `provisioner: managed` and `min: {pool.max}`, or use `kueue: {{}}` or `yunikorn: {{}}`."
            yield Problem(f"pools.{name}.min", rule, given, fix)


def applications_named(_context: Context, addons: Addons, teams: Teams) -> Iterator[Problem]:
    """The application of a pod begins with its namespace, so that no team's pods join another's."""
    if not addons.has(Yunikorn):
        return
    for team, settings in teams.items():
        for namespace in settings.namespaces_of(team):
            if len(namespace) > LONGEST:
                rule = f"with yunikorn a namespace has at most {LONGEST} characters, which begin labels of its pods"
                yield Problem(f"teams.{team}", rule, namespace, "Shorten the name of the team or of the namespace.")
