"""All cost guards of a stack, each only where configured: notifications, budgets, scheduled scaling, notebook shutdown,
idle GPUs; and the rollback of canaries, which runs beside them.

A session is the pod of a Job without retries (`components.workloads.notebook`): deleting the pod ends the session and
frees its GPU, and Karpenter removes the node. One CronJob per schedule and team namespace deletes the pods, with a role
that can only list and delete pods in that namespace. RBAC can't restrict by label, so only the label selector limits
the CronJob to notebooks.

Pools of Karpenter stop by their limit: with `nodes: 0` Karpenter launches none (v1.14.1, pkg/controllers/provisioning,
scheduler.go and `Limits.ExceededBy`), and deleting its NodeClaims drains those that are there, each until its last pod
that may not be disrupted has ended. The next `up` takes the limits back (`pulumi.com/patchForce`).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pulumi

from components.base.kubernetes import declare
from components.base.kubernetes import manifest as namespace_manifest
from components.base.operator import RBAC, object_with, rule, to_account
from components.base.outputs import Cluster
from components.composition.cron_jobs import OURS, SMALL, CronJobs
from components.composition.scripts import Objects
from components.cost import Budgets, BudgetsArgs, Schedules, SchedulesArgs
from components.observability.notifications import Notifications, NotificationsArgs
from components.pools.managed import ManagedPool
from components.workloads.notebook import LABEL
from spec.pools import keys
from spec.settings.cost import Cost, Schedule
from spec.settings.pools import Pool, Provisioner

ACCOUNT: Final = "schedules"
POOLS: Final = "pools"
KARPENTER: Final = "karpenter.sh"
IMAGE: Final = "registry.k8s.io/kubectl"
"""Published with every release of Kubernetes since 1.28 (kubernetes/kubernetes, build/server-image/kubectl)."""


@dataclass(frozen=True, kw_only=True)
class GuardsArgs:
    """Inputs of the cost guards.

    Attributes:
        settings: Settings of cost.
        environment: Name of the environment.
        cluster: The cluster.
        pools: Settings of the pools, by name.
        managed: Managed pools by name.
        namespaces: Namespaces of teams, each with the resources that must exist before an object is created in it.
        budgets: Monthly budgets of teams, in USD.
        notifications: The topic; None if nobody is notified.
        scripts: CronJobs that run a script, by name.
        jobs: Where CronJobs run, and whose they are.
    """

    settings: Cost
    environment: str
    cluster: Cluster
    pools: Mapping[str, Pool]
    managed: Mapping[str, ManagedPool]
    namespaces: Mapping[str, Sequence[pulumi.Resource]]
    budgets: Mapping[str, int]
    notifications: NotificationsArgs | None = None
    scripts: Mapping[str, tuple[Objects, Objects]] = field(default_factory=dict)
    jobs: CronJobs = OURS

    @property
    def ending(self) -> dict[str, Schedule]:
        """Schedules that shut notebooks down, by name."""
        return {name: one for name, one in self.settings.schedules.items() if one.notebooks and self.namespaces}

    @property
    def elastic(self) -> dict[str, tuple[Schedule, dict[str, int]]]:
        """Schedules of Karpenter's pools, each with the maximum of its NodePools by name."""
        return elastic_schedules(self.settings.schedules, self.pools)


class ScheduledShutdown(pulumi.ComponentResource):
    """CronJobs that end notebook sessions, stop and start pools of Karpenter, take idle GPUs back, and roll canaries
    back; and their permissions."""

    PULUMI_TYPE: Final = "slipway:cost:Evenings"

    def __init__(self, name: str, args: GuardsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        cluster, jobs = args.cluster, args.jobs

        def after(*waits: pulumi.Resource) -> pulumi.ResourceOptions:
            return pulumi.ResourceOptions(parent=self, depends_on=list(waits), deleted_with=cluster.resource)

        namespace = declare(f"{name}-namespace", namespace_manifest(jobs.namespace), after(*cluster.access))
        for key, manifest in elastic_permissions(args.elastic, jobs).items():
            declare(f"{name}-pools-{key}", manifest, after(namespace))
        for pool, (schedule, limits) in sorted(args.elastic.items()):
            for role, manifest in pool_jobs(pool, schedule, limits, cluster.version, jobs).items():
                declare(f"{name}-pool-{pool}-{role}", manifest, after(namespace))
        if args.ending:
            declare(f"{name}-account", jobs.account(ACCOUNT), after(namespace))
        for script, (allowed, run) in args.scripts.items():
            for key, one in {**allowed, **run}.items():
                waits = args.namespaces.get(one["metadata"].get("namespace", ""), ())
                declare(f"{name}-{script}-{key}", one, after(namespace, *waits))
        for space, waits in sorted(args.namespaces.items()) if args.ending else ():
            for kind, manifest in permissions(space, jobs).items():
                declare(f"{name}-{space}-{kind}", manifest, after(*cluster.access, *waits))
            for key, schedule in sorted(args.ending.items()):
                job = shutdown_job(key, schedule, space, cluster.version, jobs)
                declare(f"{name}-{space}-{key}", job, after(namespace))
        self.register_outputs({})


def permissions(space: str, jobs: CronJobs = OURS) -> dict[str, dict[str, Any]]:
    """Role and RoleBinding in a team namespace, by the suffix of their logical name."""
    api = "rbac.authorization.k8s.io"
    meta = {"name": jobs.named(ACCOUNT), "namespace": space}
    subject = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": jobs.namespace.name}
    role = {"apiGroup": api, "kind": "Role", "name": meta["name"]}
    return {
        "role": {
            "apiVersion": f"{api}/v1",
            "kind": "Role",
            "metadata": meta,
            "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["delete", "get", "list"]}],
        },
        "binding": object_with(f"{api}/v1", "RoleBinding", meta, roleRef=role, subjects=[subject]),
    }


def pool_permissions(pools: Sequence[str], jobs: CronJobs) -> dict[str, dict[str, Any]]:
    """Account, ClusterRole and its binding for pools, by the suffix of their logical name. RBAC can't restrict
    NodeClaims by label: only the CronJobs' own selector limits them to scheduled pools."""
    rules = [
        {**rule(KARPENTER, ["nodepools"], ["get", "patch"]), "resourceNames": list(pools)},
        rule(KARPENTER, ["nodeclaims"], ["delete", "get", "list"]),
    ]

    def named(kind: str) -> dict[str, Any]:
        return {"apiVersion": f"{RBAC}/v1", "kind": kind, "metadata": {"name": jobs.named(POOLS)}}

    return {
        "account": jobs.account(POOLS),
        "role": {**named("ClusterRole"), "rules": rules},
        "binding": {**named("ClusterRoleBinding"), **to_account(jobs.named(POOLS), POOLS, jobs.namespace.name)},
    }


def pool_jobs(
    pool: str, schedule: Schedule, limits: Mapping[str, int], version: str, jobs: CronJobs = OURS
) -> dict[str, dict[str, Any]]:
    """The CronJobs of a pool of Karpenter, by role: `stop` and `start`.

    Args:
        pool: The pool.
        schedule: When it stops and starts.
        limits: Maximum of its NodePools by name, those of its fallbacks too.
        version: Minor version of Kubernetes.
        jobs: Where they run, and whose they are.
    """

    def patched(most: Mapping[str, int]) -> list[list[str]]:
        return [
            ["patch", f"nodepools.{KARPENTER}", name, "--type=merge", f"--patch={json.dumps(_limit(nodes))}"]
            for name, nodes in sorted(most.items())
        ]

    drain = [
        "delete",
        f"nodeclaims.{KARPENTER}",
        f"--selector={keys.NODE_POOL} in ({','.join(sorted(limits))})",
        "--wait=false",
    ]
    roles = {
        "stop": (schedule.stop, [*patched(dict.fromkeys(limits, 0)), drain]),
        "start": (schedule.start or "", patched(limits)),
    }
    return {
        role: jobs.job(f"pool-{pool}-{role}", when, schedule.timezone, _pod(jobs, commands, version, POOLS))
        for role, (when, commands) in roles.items()
    }


def _limit(nodes: int) -> dict[str, Any]:
    return {"spec": {"limits": {"nodes": str(nodes)}}}


def elastic_schedules(
    schedules: Mapping[str, Schedule], pools: Mapping[str, Pool]
) -> dict[str, tuple[Schedule, dict[str, int]]]:
    """Karpenter's pools with a schedule, each with the maximum of its NodePools."""
    found = {}
    for schedule in schedules.values():
        for name in schedule.pools:
            pool = pools[name]
            if pool.provisioner is Provisioner.KARPENTER:
                of_fallbacks = {one: fallback.max for one, fallback in pool.fallbacks.items()}
                found[name] = (schedule, {name: pool.max, **of_fallbacks})
    return found


def elastic_permissions(
    elastic: Mapping[str, tuple[Schedule, Mapping[str, int]]], jobs: CronJobs = OURS
) -> dict[str, dict[str, Any]]:
    """What the CronJobs of Karpenter's pools may do; nothing without any."""
    return pool_permissions(sorted(name for _, limits in elastic.values() for name in limits), jobs) if elastic else {}


def shutdown_job(key: str, schedule: Schedule, space: str, version: str, jobs: CronJobs = OURS) -> dict[str, Any]:
    """A CronJob that deletes the pods of notebook sessions in one namespace; it succeeds when there are none."""
    command = ["delete", "pods", f"--namespace={space}", f"--selector={LABEL}", "--wait=false"]
    return jobs.job(f"{space}-{key}", schedule.stop, schedule.timezone, _pod(jobs, [command], version, ACCOUNT))


def _pod(jobs: CronJobs, commands: Sequence[Sequence[str]], version: str, name: str) -> dict[str, Any]:
    """A pod that runs kubectl with each of the commands, one after the other."""
    *first, last = (_kubectl(command, version, number) for number, command in enumerate(commands))
    return {**jobs.pod({**last, "name": "kubectl"}, name), **({"initContainers": first} if first else {})}


def _kubectl(command: Sequence[str], version: str, number: int) -> dict[str, Any]:
    return {
        "name": f"kubectl-{number}",
        # The first patch release of a minor version always exists, and any patch release will do.
        "image": f"{IMAGE}:v{version}.0",
        "args": list(command),
        **SMALL,
    }


def guards(
    args: GuardsArgs, cloud: pulumi.ResourceOptions, inside: pulumi.ResourceOptions, *, within: str = ""
) -> None:
    """Declare the SNS topic, the budgets, the scheduled scaling of pools, and the shutdown of notebooks.

    Args:
        args: Settings, and what they are of.
        cloud: Resource options with the AWS provider.
        inside: Resource options with the AWS and Kubernetes providers.
        within: Begins the logical names.
    """
    cost = args.settings
    topic = Notifications(f"{within}notices", args.notifications, cloud) if args.notifications else None
    if topic is not None or cost.allocation_tags:
        budgets = BudgetsArgs(
            settings=cost,
            environment=args.environment,
            teams=args.budgets,
            notifications=topic,
            account_id=args.cluster.account_id,
        )
        Budgets(f"{within}budgets", budgets, cloud)
    if any(set(schedule.pools) - set(args.elastic) for schedule in cost.schedules.values()):
        groups = {name: pool.node_group for name, pool in args.managed.items()}
        Schedules(f"{within}schedules", SchedulesArgs(schedules=cost.schedules, pools=args.pools, groups=groups), cloud)
    if args.ending or args.elastic or args.scripts:
        ScheduledShutdown(f"{within}evenings", args, inside)
