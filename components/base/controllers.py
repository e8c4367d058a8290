"""Controllers that create and change objects in namespaces of teams, by the service account that they act as.

Admission rules look at `request.userInfo`, which the API server fills in, and never at `ownerReferences`, which the
user writes.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True, kw_only=True)
class Controller:
    """A controller."""

    account: str  # name of its service account, in the namespace of its add-on
    makes: tuple[str, ...] = ()
    """Kinds that it creates and changes for a parent that the rules evaluate: the child isn't evaluated again. A kind
    whose parent no rule evaluates is not listed."""
    changes: tuple[str, ...] = ()  # kinds that it changes without having created them


@dataclass(frozen=True, kw_only=True)
class Scheduler:
    """A scheduler of the pods of teams beside kube-scheduler, and how a pod says its queue."""

    name: str  # `schedulerName` of its pods
    queue: str  # label or annotation of a pod that names its queue
    holder: Literal["labels", "annotations"]  # which of the two: `labels` or `annotations`
    parent: str = ""  # what is before the team's name in the name of its queue
    app: str = ""  # label that says which pods are one application; empty if an owner does
    other_apps: tuple[str, ...] = ()  # labels and annotations that say the same where that label is missing
    pod_groups: bool = False  # whether it has PodGroups, which name a queue as well


def username(namespace: str, account: str) -> str:
    """Name under which the API server knows a service account (kubernetes.io, "Authenticating", service accounts)."""
    return f"system:serviceaccount:{namespace}:{account}"


KUBE_SYSTEM: Final = "kube-system"
BUILT_IN: Final = (
    Controller(account="cronjob-controller", makes=("Job",)),
    Controller(account="deployment-controller", makes=("ReplicaSet",)),
    Controller(account="job-controller", makes=("Pod",)),
    Controller(account="replicaset-controller", makes=("Pod",)),
    Controller(account="statefulset-controller", makes=("Pod",)),
)
"""Controllers of kube-controller-manager with `--use-service-account-credentials` (kubernetes.io, "Using RBAC
Authorization", controller roles). EKS sets this flag: its audit log names these accounts. EKS's own users (`eks:*`,
EKS User Guide, "View Amazon EKS-created RBAC roles and users") create nothing in namespaces of teams.

The DaemonSet and ReplicationController controllers are not listed: members may create neither kind."""


def accounts(controllers: Iterable[tuple[str, Controller]], operation: str) -> dict[str, list[str]]:
    """Usernames by kind, sorted.

    Args:
        controllers: Controllers with the namespaces of their service accounts.
        operation: `makes` or `changes`.
    """
    found: dict[str, set[str]] = {}
    for namespace, each in controllers:
        for kind in each.makes if operation == "makes" else each.changes:
            found.setdefault(kind, set()).add(username(namespace, each.account))
    return {kind: sorted(names) for kind, names in sorted(found.items())}
