"""What a MultiKueue manager may do on a worker: its account, which the worker's stack creates.

The manager watches copies of workloads and jobs in the whole worker, and writes them in namespaces of teams only: who
creates pods in `kube-system` has the cluster. Its token is made outside the stack (ADR 0140).
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from components.base.operator import RBAC, object_of, object_with, rule, to_account

NAMESPACE: Final = "kueue-system"
"""Of Kueue, because only accounts of this namespace may name a workload of Kueue (rule `queue-metadata`)."""
ACCOUNT: Final = "multikueue-manager"
READS: Final = f"slipway-{ACCOUNT}-reads"
WRITES: Final = f"slipway-{ACCOUNT}-writes"
_READ: Final = ("get", "list", "watch")
_WRITE: Final = ("create", "delete", "patch", "update")
_BUILT_IN: Final = {"pod": "", "statefulset": "apps"}  # API group of the frameworks that do not name it
_NOT_DISPATCHED: Final = ("deployment",)
"""Kueue has no MultiKueue adapter for them (v0.19.2, pkg/controller/jobs/*/*_multikueue_adapter.go)."""


def _served(frameworks: Iterable[str]) -> Iterable[tuple[str, str]]:
    """API group and resource of each framework that a manager dispatches."""
    for framework in frameworks:
        group, _, kind = framework.rpartition("/")
        if framework not in _NOT_DISPATCHED:
            yield _BUILT_IN.get(framework, group), f"{kind}s"


def access(frameworks: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The account and its roles, by the suffix of their logical names.

    The permissions are those that Kueue's own tests give it (v0.19.2, test/util/multikueue.go), in two roles.
    """
    served = sorted(_served(frameworks))
    workloads, status = "workloads", "workloads/status"
    kueue = "kueue.x-k8s.io"
    reads = [
        rule(kueue, [workloads, "clusterqueues", "localqueues"], _READ),
        rule(kueue, [status], ("get",)),
        *(
            each
            for group, name in served
            for each in (rule(group, [name], _READ), rule(group, [f"{name}/status"], ("get",)))
        ),
    ]
    writes = [
        rule(kueue, [workloads], _WRITE),
        rule(kueue, [status], ("patch", "update")),
        *(rule(group, [name], _WRITE) for group, name in served),
    ]
    account = object_of("v1", "ServiceAccount", ACCOUNT, NAMESPACE, automountServiceAccountToken=False)
    return {
        "manager": account,
        "manager-reads": _role(READS, reads),
        "manager-writes": _role(WRITES, writes),
        "manager-binding": _binding("ClusterRoleBinding", {"name": READS}, READS),
    }


def team_binding(namespace: str) -> dict[str, Any]:
    """The binding by which the manager writes in one namespace of a team."""
    return _binding("RoleBinding", {"name": WRITES, "namespace": namespace}, WRITES)


def _role(name: str, rules: list[dict[str, Any]]) -> dict[str, Any]:
    return {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": rules}


def _binding(kind: str, metadata: Mapping[str, str], role: str) -> dict[str, Any]:
    return object_with(f"{RBAC}/v1", kind, dict(metadata), **to_account(role, ACCOUNT, NAMESPACE))
