"""All cost guards of a stack, each only where configured: notifications, budgets, scheduled scaling, notebook shutdown.

A session is the pod of a Job without retries (`components.workloads.notebook`): deleting the pod ends the session and
frees its GPU, and Karpenter removes the node. One CronJob per schedule and team namespace deletes the pods, with a role
that can only list and delete pods in that namespace. RBAC can't restrict by label, so only the label selector limits
the CronJob to notebooks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi

from components.base.addon import Namespace
from components.base.kubernetes import declare
from components.base.kubernetes import manifest as namespace_manifest
from components.base.outputs import ClusterOutputs
from components.base.placement import CRITICAL, sized
from components.cost import Budgets, BudgetsArgs, Schedules, SchedulesArgs
from components.observability.notifications import Notifications, NotificationsArgs
from components.pools.managed import ManagedPool
from components.tenancy import TeamOutputs
from components.workloads.notebook import LABEL
from spec.pools import keys
from spec.settings.cost import Schedule
from spec.settings.platform import Platform
from spec.settings.pools import Role

NAMESPACE: Final = Namespace(name="slipway-schedules", enforce="restricted")
ACCOUNT: Final = "schedules"
IMAGE: Final = "registry.k8s.io/kubectl"
"""Published with every release of Kubernetes since 1.28 (kubernetes/kubernetes, build/server-image/kubectl)."""


@dataclass(frozen=True, kw_only=True)
class NotebookShutdownArgs:
    """Inputs of `NotebookShutdown`.

    Attributes:
        schedules: Schedules that shut notebooks down, by name.
        namespaces: Team namespaces, each with the resources that must exist before an object is created in it.
        cluster: The cluster.
    """

    schedules: Mapping[str, Schedule]
    namespaces: Mapping[str, Sequence[pulumi.Resource]]
    cluster: ClusterOutputs


class NotebookShutdown(pulumi.ComponentResource):
    """CronJobs that delete the pods of notebook sessions, and a Role and RoleBinding in each team namespace."""

    PULUMI_TYPE: Final = "slipway:cost:Evenings"

    def __init__(self, name: str, args: NotebookShutdownArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        cluster = args.cluster

        def after(*waits: pulumi.Resource) -> pulumi.ResourceOptions:
            return pulumi.ResourceOptions(parent=self, depends_on=list(waits), deleted_with=cluster.resource)

        namespace = declare(f"{name}-namespace", namespace_manifest(NAMESPACE), after(*cluster.access))
        declare(f"{name}-account", account(), after(namespace))
        for space, waits in sorted(args.namespaces.items()):
            for kind, manifest in permissions(space).items():
                declare(f"{name}-{space}-{kind}", manifest, after(*cluster.access, *waits))
            for key, schedule in sorted(args.schedules.items()):
                declare(f"{name}-{space}-{key}", shutdown_job(key, schedule, space, cluster.version), after(namespace))
        self.register_outputs({})


def account() -> dict[str, Any]:
    """The service account of all the CronJobs."""
    meta = {"name": ACCOUNT, "namespace": NAMESPACE.name}
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta, "automountServiceAccountToken": False}


def permissions(space: str) -> dict[str, dict[str, Any]]:
    """Role and RoleBinding in a team namespace, by the suffix of their logical name."""
    api = "rbac.authorization.k8s.io"
    meta = {"name": f"slipway-{ACCOUNT}", "namespace": space}
    subject = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": NAMESPACE.name}
    role = {"apiGroup": api, "kind": "Role", "name": meta["name"]}
    return {
        "role": {
            "apiVersion": f"{api}/v1",
            "kind": "Role",
            "metadata": meta,
            "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["delete", "get", "list"]}],
        },
        "binding": {
            "apiVersion": f"{api}/v1",
            "kind": "RoleBinding",
            "metadata": meta,
            "roleRef": role,
            "subjects": [subject],
        },
    }


def shutdown_job(key: str, schedule: Schedule, space: str, version: str) -> dict[str, Any]:
    """A CronJob that deletes the pods of notebook sessions in one namespace; it succeeds when there are none."""
    command = ["delete", "pods", f"--namespace={space}", f"--selector={LABEL}", "--wait=false"]
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": f"{space}-{key}", "namespace": NAMESPACE.name},
        "spec": {
            "schedule": schedule.stop,
            "timeZone": schedule.timezone,
            "concurrencyPolicy": "Forbid",
            # A run missed because the controller was down is caught up within an hour; later it would interrupt people
            # who work late on purpose.
            "startingDeadlineSeconds": 3600,
            "successfulJobsHistoryLimit": 1,
            "failedJobsHistoryLimit": 1,
            "jobTemplate": {
                "spec": {"backoffLimit": 3, "activeDeadlineSeconds": 600, "template": {"spec": _pod(command, version)}}
            },
        },
    }


def _pod(command: Sequence[str], version: str) -> dict[str, Any]:
    return {
        "restartPolicy": "OnFailure",
        "serviceAccountName": ACCOUNT,
        "automountServiceAccountToken": True,
        "nodeSelector": {keys.ROLE: str(Role.SYSTEM)},
        "tolerations": [dict(CRITICAL)],
        "securityContext": {"runAsNonRoot": True, "runAsUser": 65532, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [
            {
                "name": "kubectl",
                # The first patch release of a minor version always exists, and any patch release will do.
                "image": f"{IMAGE}:v{version}.0",
                "args": list(command),
                "resources": sized("10m", "64Mi"),
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "readOnlyRootFilesystem": True,
                    "capabilities": {"drop": ["ALL"]},
                },
            }
        ],
    }


@dataclass(frozen=True, kw_only=True)
class GuardsArgs:
    """Inputs of the cost guards.

    Attributes:
        platform: All settings.
        cluster: The cluster.
        pools: Managed pools by name.
        teams: Teams by name.
    """

    platform: Platform
    cluster: ClusterOutputs
    pools: Mapping[str, ManagedPool]
    teams: Mapping[str, TeamOutputs]


def guards(args: GuardsArgs, cloud: pulumi.ResourceOptions, inside: pulumi.ResourceOptions) -> None:
    """Declare the SNS topic, the budgets, the scheduled scaling of pools, and the shutdown of notebooks.

    Args:
        args: Settings, cluster, pools and teams.
        cloud: Resource options with the AWS provider.
        inside: Resource options with the AWS and Kubernetes providers.
    """
    platform, cost = args.platform, args.platform.cost
    notifications = (
        Notifications("notices", NotificationsArgs(platform=platform), cloud) if platform.notifications.wanted else None
    )
    if notifications is not None or cost.allocation_tags:
        budgets = BudgetsArgs(
            settings=cost,
            environment=platform.environment.name,
            teams=platform.teams,
            notifications=notifications,
            account_id=platform.account.id,
        )
        Budgets("budgets", budgets, cloud)
    if any(schedule.pools for schedule in cost.schedules.values()):
        groups = {name: pool.node_group for name, pool in args.pools.items()}
        Schedules("schedules", SchedulesArgs(schedules=cost.schedules, pools=platform.pools, groups=groups), cloud)
    ending = {name: schedule for name, schedule in cost.schedules.items() if schedule.notebooks}
    spaces = {space: waits for team in args.teams.values() for space, waits in team.namespaces.items()}
    if ending and spaces:
        NotebookShutdown(
            "evenings", NotebookShutdownArgs(schedules=ending, namespaces=spaces, cluster=args.cluster), inside
        )
