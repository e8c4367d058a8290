"""What keeps teams and controllers apart, as the stack file gives it: objects of the cluster, and who may use its API.

The components declare these manifests. They follow from the settings alone, so the policy pack renders them, too, and
compares: what the program changes, adds or leaves out beside the stack file shows.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from components.addons import registry
from components.addons.multikueue import team_binding
from components.admission.admission import manifests as admission_manifests
from components.admission.admission import rules
from components.admission.rule import Rule
from components.base.kubernetes import agreed, type_token
from components.base.kubernetes import manifest as namespace_of_addon
from components.composition.cost_guards import ACCOUNT, elastic_permissions, permissions
from components.composition.cron_jobs import NAMESPACE as SHUTDOWN
from components.composition.cron_jobs import OURS
from components.queues import cluster_queue, local_queues, shared_manifests
from components.tenancy.namespace import manifests, namespace_manifest
from components.tenancy.priorities import priority_class
from components.tenancy.roles import group, roles
from infra.facts import of_addons, of_admission, of_schedules, of_scripts, of_teams
from spec.pools.pool_spec import PoolSpec
from spec.settings.addons.batch import Kueue
from spec.settings.admission import Action, Admission
from spec.settings.checks.teams import RESERVED, RESERVED_PREFIXES
from spec.settings.cluster import AccessPolicy
from spec.settings.extensions import Extension
from spec.settings.platform import Platform
from spec.settings.teams import PriorityName

Manifest = Mapping[str, Any]
Identity = tuple[str, str, str]  # type token, namespace (empty for an object of the cluster) and name


@dataclass(frozen=True, kw_only=True)
class Entry:
    """An access entry of the stack file."""

    groups: frozenset[str]  # its Kubernetes groups
    policy: AccessPolicy | None = None  # its access policy, if it has one
    namespaces: frozenset[str] = frozenset()  # namespaces of the policy; all if empty
    team: str = ""  # the team whose member it is, or ""


@dataclass(frozen=True, kw_only=True)
class Boundaries:
    """The boundaries of a stack."""

    objects: Mapping[Identity, Manifest]  # objects of the cluster
    teams: Mapping[str, str]  # team of each team namespace
    addons: frozenset[str]  # namespaces of the platform's own software, installed or not
    entries: Mapping[str, Entry]  # access entries of people by their principal
    groups: Mapping[str, str]  # Kubernetes groups of those entries, with the team whose members they are, or ""
    extensions: Mapping[Identity, Extension]  # objects that the settings name and the program's code declares
    off: frozenset[str]  # admission rules that the settings turn off, for all teams or for one
    admission: Callable[[], Sequence[Rule]]  # makes the admission rules, whether they are on or off

    def of_platform(self, namespace: str) -> bool:
        """Whether a namespace is for the cluster's or the platform's own software."""
        return namespace in self.addons or namespace.startswith(RESERVED_PREFIXES)


def boundaries(platform: Platform) -> Boundaries:
    """The boundaries of a stack."""
    spaces = {space: name for name, team in platform.teams.items() for space in team.namespaces_of(name)}
    entries = _entries(platform)
    return Boundaries(
        objects={identity(one): one for one in _objects(platform)},
        teams=spaces,
        addons=RESERVED - {"default"} | {SHUTDOWN.name},
        entries=entries,
        groups={group: one.team for one in entries.values() for group in one.groups},
        extensions={
            (type_token(one.api_version, one.kind), one.namespace or "", one.name): one
            for one in platform.extensions.values()
        },
        off=frozenset(
            rule
            for rule in (name.replace("_", "-") for name, f in Admission.model_fields.items() if f.annotation is Action)
            if any(platform.admission.of_team(rule, team) is Action.OFF for team in ("", *platform.teams))
        ),
        admission=lambda: rules(of_admission(platform)),
    )


def identity(manifest: Manifest) -> Identity:
    """What identifies an object in the cluster."""
    metadata = manifest["metadata"]
    return type_token(manifest["apiVersion"], manifest["kind"]), metadata.get("namespace", ""), metadata["name"]


def _objects(platform: Platform) -> Iterator[Manifest]:
    facts = of_addons(platform)
    pools_stop = elastic_permissions(of_schedules(platform))
    notebooks = any(schedule.notebooks for schedule in platform.cost.schedules.values())
    scripted = of_scripts(platform)
    if pools_stop or scripted or (platform.teams and notebooks):
        yield namespace_of_addon(SHUTDOWN)
    yield from pools_stop.values()
    for allowed, _ in scripted.values():
        yield from allowed.values()
    if platform.shares:
        yield from admission_manifests(platform.admission, of_admission(platform)).values()
        yield from map(priority_class, PriorityName)
    addons = registry.wanted(platform.addons, facts.installed).values()
    yield from map(namespace_of_addon, agreed(addon.namespace for addon in addons).values())
    for addon in addons:
        yield from addon.boundaries(facts).values()
    if platform.teams:
        yield from roles().values()
        yield from _of_teams(platform)
        if platform.addons.has(Kueue):
            yield from _queues(platform, facts.pools)


def _of_teams(platform: Platform) -> Iterator[Manifest]:
    facts = of_teams(platform)
    ended = any(schedule.notebooks for schedule in platform.cost.schedules.values())
    if ended:
        yield OURS.account(ACCOUNT)
    for name, team in platform.teams.items():
        for namespace, space in team.namespaces_of(name).items():
            yield namespace_manifest(namespace, name, team, space, facts.job_usd.get(name))
            yield from (manifest for _, manifest in manifests(namespace, name, team, facts))
            if ended:
                yield from permissions(namespace).values()


def _queues(platform: Platform, pools: Mapping[str, PoolSpec]) -> Iterator[Manifest]:
    yield from shared_manifests(pools, platform.queues).values()
    for name, team in platform.teams.items():
        yield cluster_queue(name, team, pools, platform.queues)
        for namespace in team.namespaces_of(name):
            yield from local_queues(namespace, name, platform.queues).values()
        if (kueue := platform.addons.kueue) is not None and kueue.multi_kueue == "worker":
            yield from map(team_binding, team.namespaces_of(name))


def _entries(platform: Platform) -> dict[str, Entry]:
    found = {
        access.principal_arn: Entry(
            groups=frozenset(access.kubernetes_groups), policy=access.policy, namespaces=frozenset(access.namespaces)
        )
        for access in platform.cluster.access.values()
    }
    for name, team in platform.teams.items():
        for member in team.members.values():
            found[member.principal_arn] = Entry(groups=frozenset({group(name, member.role)}), team=name)
    return found
