"""One namespace of a team and everything in it: quotas, RBAC, network policies, AWS identity, volumes.

Kueue limits a team's queued workloads over all of its namespaces; a ResourceQuota also limits what isn't queued. It is
never smaller than the queue's quota: a job that Kueue admits but a ResourceQuota refuses would stay pending forever,
with only an event on the Job.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pulumi

from components.base.iam import Inline, pod_identity_role
from components.base.kubernetes import declare
from components.base.outputs import Cluster, StorageOutputs
from components.storage.claims import declared
from components.storage.volumes import VolumeSettings, team_volumes
from components.tenancy import pipelines
from components.tenancy.network_policies import SERVES, network_policies
from components.tenancy.roles import (
    PREFIX,
    created,
    of_addons,
    picker_access,
    role_binding,
    roles_in_use,
    workflow_binding,
)
from components.tenancy.workload_permissions import (
    ARTIFACTS,
    SERVICE_ACCOUNT,
    service_account_manifest,
    workload_policy,
)
from spec.catalog import gpus, regions
from spec.pools import keys
from spec.pools.pool_spec import PoolSpec
from spec.quantities import CPU, MEMORY, counted, format_mebibytes, percent, quantity, total
from spec.settings.addons import Addons
from spec.settings.addons.batch import ArgoWorkflows, Yunikorn
from spec.settings.addons.serving import EndpointPicker
from spec.settings.network import Network
from spec.settings.teams import MemberRole, PriorityName, Team, TeamNamespace
from spec.teams import labels
from spec.teams.shares import amounts, largest_node, maximum

_MIB_PER_GIB: Final = 1024

OBJECTS: Final[Mapping[str, int]] = {
    "configmaps": 500,
    "count/cronjobs.batch": 50,
    "count/controllerrevisions.apps": 1000,
    "count/jobs.batch": 500,
    # A Deployment keeps up to ten (kubernetes.io, "Deployments", revisionHistoryLimit), as a StatefulSet revisions.
    "count/replicasets.apps": 1000,
    "secrets": 200,
    "services.loadbalancers": 0,
    "services.nodeports": 0,
}
"""Maximum number of objects in one namespace, where it is not `OTHERS`: a runaway loop would fill etcd, and each pod's
start lists some of them. Services of type LoadBalancer cost money and bypass the ingress, so none is allowed."""
CLAIMS: Final = "count/resourceclaims.resource.k8s.io"
"""Claims of devices, of which there are none where no pool has a driver for them."""
NONE: Final = {"requests.vpc.amazonaws.com/pod-eni": "0", "requests.hugepages-1Gi": "0"}
"""Network interfaces of pods with security groups of their own: an instance has few, and teams have no such groups; and
pages that no node sets apart."""
OTHERS: Final = 100  # maximum number of objects of any other kind that a member can create
CORE: Final = ("configmaps", "persistentvolumeclaims", "secrets", "services")
"""Resources that a quota counts by their name alone (kubernetes.io, "Resource Quotas")."""
FINISHED: Final = 10  # Pods that may exist for each that may run: `pods` doesn't count finished ones
ADDONS: Final = "addons"  # the ResourceQuota of add-ons' kinds
_ENDS: Final = re.compile(r"^count/([a-z]*jobs|jobsets|workflows)\.")
"""Kinds that run and end: they stay for days, as Jobs do."""


def object_counts(team: Team) -> tuple[dict[str, int], dict[str, int]]:
    """Maximum number of objects by the name in a ResourceQuota, of all kinds that a role lets members create: those of
    Kubernetes, and those of add-ons (ADR 0178)."""
    ours, theirs = dict.fromkeys(("count/pods",), FINISHED * team.pods), dict[str, int]()
    for group, resource in created():
        name = resource if resource in CORE and not group else f"count/{resource}{f'.{group}' if group else ''}"
        (theirs if resource in of_addons().get(group, ()) else ours).setdefault(name, OBJECTS.get(name, OTHERS))
    theirs |= {name: OBJECTS["count/jobs.batch"] for name in theirs if _ENDS.search(name)}
    of_ours = {name: count for name, count in team.objects.items() if name not in theirs}
    return {**OBJECTS, **ours, **of_ours}, {name: team.objects.get(name, count) for name, count in theirs.items()}


DEFAULTS: Final[Mapping[str, Mapping[str, str]]] = {
    # Defaults of a container without requests: enough for a sidecar, too little for a real workload.
    "defaultRequest": {CPU: "250m", MEMORY: "512Mi"},
    "default": {MEMORY: "2Gi"},
}


def resource_quota(
    namespace: str, space: TeamNamespace, team: Team, pools: Mapping[str, PoolSpec], *, placeholders: bool = False
) -> dict[str, Any]:
    """The ResourceQuota of one namespace: compute, storage, objects.

    With placeholders compute is twice as much: YuniKorn holds the nodes of a gang by a pod beside each of its pods, and
    its queue has the limit.
    """
    everything = {name: 0 for spec in pools.values() for name in spec.resources}
    # Zero for resources without a share: what a ResourceQuota doesn't name is unlimited.
    most = maximum(team, pools)
    every = percent(total([everything, most, most if placeholders else {}]), space.share)
    storage = percent({"storage": team.storage_gib * _MIB_PER_GIB}, space.share)["storage"]
    compute = {f"requests.{name}": quantity(name, amount) for name, amount in every.items() if _bounded(name)}
    hard = {**compute, **NONE, **_claims(team, pools, space.share)}
    hard |= {"requests.storage": format_mebibytes(storage), "pods": str(team.pods)}
    return _quota("team", namespace, hard, object_counts(team)[0])


def _claims(team: Team, pools: Mapping[str, PoolSpec], share: int) -> dict[str, str]:
    """Claims of devices: at most the GPUs of pools that allocate them so. `requests.nvidia.com/gpu` counts them too, by
    the extended resource of their class (kubernetes v1.36.3, pkg/quota/v1/evaluator/core/resource_claims.go)."""
    claimed = {name: pool for name, pool in pools.items() if pool.dra}
    if not claimed:
        return {CLAIMS: "0"}
    most = total(amounts(claimed[name], each.maximum) for name, each in team.shares.items() if name in claimed)
    devices = percent({keys.GPU: most.get(keys.GPU, 0)}, share)[keys.GPU]
    return {f"{gpus.DEVICE_CLASS}.deviceclass.resource.k8s.io/devices": str(devices)}


def _quota(name: str, namespace: str, hard: Mapping[str, str], counts: Mapping[str, int]) -> dict[str, Any]:
    every = {**hard, **{key: str(count) for key, count in counts.items()}}
    spelled = {key: counted(int(text)) if text.isdecimal() else text for key, text in sorted(every.items())}
    return _object("v1", "ResourceQuota", name, namespace, {"hard": spelled})


def _bounded(resource: str) -> bool:
    """Whether a resource needs a quota. EFA adapters don't: they come with GPUs, and only pods with GPUs use them."""
    return resource in (CPU, MEMORY) or resource.startswith(keys.NVIDIA)


def priority_quota(namespace: str, team: Team) -> dict[str, Any] | None:
    """A ResourceQuota that forbids priority classes that the team may not use; None if it may use all of them."""
    refused = [str(name) for name in PriorityName if name not in team.priorities]
    if not refused:
        return None
    selector = {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": refused}]}
    return _object("v1", "ResourceQuota", "priorities", namespace, {"hard": {"pods": "0"}, "scopeSelector": selector})


def limit_range(namespace: str, team: Team, pools: Mapping[str, PoolSpec]) -> dict[str, Any]:
    """Default requests of containers, and the largest node as their maximum.

    It excludes GPUs: a maximum in a LimitRange becomes every container's default limit, so each sidecar would get GPUs
    (kubernetes, pkg/apis/core/v1/defaults.go, SetDefaults_LimitRangeItem; 1.35).
    """
    top = {name: quantity(name, amount) for name, amount in largest_node(team, pools).items()}
    container = {
        "type": "Container",
        "defaultRequest": dict(DEFAULTS["defaultRequest"]),
        "default": {CPU: top[CPU], **DEFAULTS["default"]},
        "max": top,
    }
    return _object("v1", "LimitRange", "team", namespace, {"limits": [container]})


def claimable(team: Team, pools: Mapping[str, PoolSpec]) -> list[int]:
    """Numbers of GPUs for which a team gets a template of claims: 1, 2, 4, ... up to those of a node of its pools."""
    return whole(pools[name] for name in team.shares)


def whole(pools: Iterable[PoolSpec]) -> list[int]:
    """Powers of two up to the whole GPUs of a node of these pools that claims can get."""
    most = max((pool.resources[keys.GPU] for pool in pools if keys.GPU in pool.claimed), default=0)
    return [1 << power for power in range(most.bit_length())]


def claim_template(namespace: str, count: int) -> dict[str, Any]:
    """The ResourceClaimTemplate of a number of GPUs, which its name tells (`components.admission.claims`)."""
    exactly = {"deviceClassName": gpus.DEVICE_CLASS, "allocationMode": "ExactCount", "count": count}
    spec = {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}}}
    return _object("resource.k8s.io/v1", "ResourceClaimTemplate", f"gpu-{count}", namespace, spec)


def _object(version: str, kind: str, name: str, namespace: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": namespace}, "spec": dict(spec)}


def namespace_manifest(
    name: str, team: str, settings: Team, space: TeamNamespace, job_usd: int | None = None
) -> dict[str, Any]:
    """The Namespace, with what one job of its team may cost."""
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": name,
            "labels": labels.of_namespace(team, settings, space),
            "annotations": labels.notes_of_namespace(settings, job_usd),
        },
    }


@dataclass(frozen=True, kw_only=True)
class TeamFacts:
    """What the objects of all teams depend on, known from the stack file."""

    pools: Mapping[str, PoolSpec]
    addons: Addons = field(default_factory=Addons)  # add-ons of the cluster
    network: Network | None = None  # ranges of VPC and pods; None if unknown
    protect: bool = False  # protect namespaces and volumes from deletion, by default
    job_usd: Mapping[str, int] = field(default_factory=dict)
    """What one job of each team may cost, in USD, by the team's name."""
    roles: str = PREFIX  # prefix of the names of its ClusterRoles


@dataclass(frozen=True, kw_only=True)
class TeamContext(TeamFacts):
    """What all teams depend on."""

    cluster: Cluster
    storage: StorageOutputs | None = None
    """Buckets and file systems; without any, namespaces have no volumes and no permissions in AWS."""
    installed: Sequence[pulumi.Resource] = ()  # add-ons whose kinds are counted once they are there


@dataclass(frozen=True, kw_only=True)
class SpaceArgs:
    """Inputs of `Space`.

    Attributes:
        namespace: Full name of the namespace.
        settings: Its settings.
        team: Name of its team.
        team_settings: The team's settings.
        context: What all teams depend on.
    """

    namespace: str
    settings: TeamNamespace
    team: str
    team_settings: Team
    context: TeamContext

    @property
    def protect(self) -> bool:
        """Whether Pulumi protects resources with data from deletion. Those of a retired team aren't protected."""
        retain = self.team_settings.retain
        default = self.context.protect
        return (default if retain is None else retain) and not self.team_settings.retired


class Space(pulumi.ComponentResource):
    """A namespace. Deleting it deletes every volume claim in it, so it is protected like them.

    Attributes:
        namespace: The Namespace.
        ready: Resources that must exist before a workload is created in it.
    """

    PULUMI_TYPE: Final = "slipway:tenancy:Space"

    namespace: pulumi.Resource
    ready: Sequence[pulumi.Resource]

    def __init__(self, name: str, args: SpaceArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        self._name, self._args = name, args
        cluster = args.context.cluster
        self.namespace = declare(
            f"{name}-namespace",
            namespace_manifest(
                args.namespace, args.team, args.team_settings, args.settings, args.context.job_usd.get(args.team)
            ),
            pulumi.ResourceOptions(
                parent=self, depends_on=list(cluster.access), deleted_with=cluster.resource, protect=args.protect
            ),
        )
        inside = pulumi.ResourceOptions(parent=self, depends_on=[self.namespace], deleted_with=cluster.resource)
        rendered = dict(manifests(args.namespace, args.team, args.team_settings, args.context))
        late = pulumi.ResourceOptions.merge(inside, pulumi.ResourceOptions(depends_on=list(args.context.installed)))
        # Nothing waits for it: a workload of this program need not wait for all add-ons.
        declare(f"{name}-{ADDONS}", rendered.pop(ADDONS), late)
        objects = [declare(f"{name}-{key}", manifest, inside) for key, manifest in rendered.items()]
        storage = args.context.storage
        if storage and args.namespace in args.context.addons.pipelined:
            bucket = storage.buckets[ARTIFACTS].name
            ways = pipelines.ways(args.namespace, bucket, cluster.region)
            objects += [declare(f"{name}-{key}", manifest, inside) for key, manifest in ways.items()]
        owned = (*self._identity(storage), *self._volumes(storage)) if storage else ()
        self.ready = (self.namespace, *objects, *owned)
        self.register_outputs({})

    def _identity(self, storage: StorageOutputs) -> Sequence[pulumi.Resource]:
        name, args = self._name, self._args
        cluster = args.context.cluster
        region = regions.get(cluster.region)
        policy = workload_policy(
            args.team,
            storage,
            f"s3.{region.name}.{region.dns_suffix}",
            workflows_in=args.namespace if args.context.addons.has(ArgoWorkflows) else None,
        )
        role = pod_identity_role(
            f"{name}-role",
            cluster_arn=cluster.arn,
            namespace=args.namespace,
            service_account=SERVICE_ACCOUNT,
            policy=Inline(document=policy),
            parent=self,
            association=(f"{name}-association", cluster.known_as),
        )
        return role.ready

    def _volumes(self, storage: StorageOutputs) -> list[pulumi.Resource]:
        """Volumes and claims; a claim depends on its volume, and both on the CSI drivers and classes."""
        args = self._args
        cluster = args.context.cluster
        settings = VolumeSettings(
            team=args.team, region=cluster.region, labels=labels.of_team(args.team, args.team_settings)
        )
        opts = pulumi.ResourceOptions(parent=self, deleted_with=cluster.resource, protect=args.protect)
        return declared(
            self._name, team_volumes(args.namespace, storage, settings), [self.namespace, *storage.ready], opts
        )


def manifests(namespace: str, team: str, settings: Team, facts: TeamFacts) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Quotas, RBAC and network policies of a team's namespace, by the suffix of their logical name."""
    space = settings.namespaces_of(team)[namespace]
    # YuniKorn holds nodes by pods of its own.
    yield "quota", resource_quota(namespace, space, settings, facts.pools, placeholders=facts.addons.has(Yunikorn))
    yield ADDONS, _quota(ADDONS, namespace, {}, object_counts(settings)[1])
    if priorities := priority_quota(namespace, settings):
        yield "priorities", priorities
    yield "limits", limit_range(namespace, settings, facts.pools)
    yield "account", service_account_manifest(namespace)
    for count in claimable(settings, facts.pools):
        yield f"claim-{count}", claim_template(namespace, count)
    if facts.addons.has(ArgoWorkflows):
        yield "binding-workflows", workflow_binding(namespace, SERVICE_ACCOUNT)
    if facts.addons.has(EndpointPicker) and space.purpose in SERVES:
        yield from picker_access(namespace).items()
    if namespace in facts.addons.pipelined:
        yield from pipelines.access(namespace, SERVICE_ACCOUNT).items()
    for role in roles_in_use(settings):
        bound = MemberRole.VIEW if settings.retired else role
        yield f"binding-{role}", role_binding(namespace, team, role, bound=bound, prefix=facts.roles)
    for policy, manifest in network_policies(namespace, team, space, facts.network, facts.addons).items():
        yield f"network-{policy}", manifest
