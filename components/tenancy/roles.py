"""What members of a team may do in its namespaces, as three ClusterRoles that all teams share.

They are our own, and neither EKS's access policies nor the roles `edit` and `admin` of Kubernetes: the former name no
custom resource (EKS User Guide, "Review access policy permissions", 2026-11), and a team works with little else; the
latter let an editor remove the namespace's network policies. Nobody in a team may change its quotas, limits, labels or
queue.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi

from components.base.kubernetes import declare
from components.base.outputs import ClusterOutputs
from spec.settings.teams import MemberRole, Team

RBAC: Final = "rbac.authorization.k8s.io"
_READ: Final = ("get", "list", "watch")
_WRITE: Final = ("create", "delete", "deletecollection", "patch", "update")
_KEEP: Final = ("create", "delete", "patch", "update")
"""Verbs for secrets: they are brought and renewed, and read by pods alone."""

_Resources = Mapping[str, Sequence[str]]
_EDITED: Final[_Resources] = {
    "": ("configmaps", "persistentvolumeclaims", "pods", "services"),
    "apps": (
        "deployments",
        "deployments/scale",
        "replicasets",
        "replicasets/scale",
        "statefulsets",
        "statefulsets/scale",
    ),
    "argoproj.io": ("cronworkflows", "workflows", "workfloweventbindings", "workflowtemplates"),
    "autoscaling": ("horizontalpodautoscalers",),
    "batch": ("cronjobs", "jobs"),
    "jobset.x-k8s.io": ("jobsets",),
    "keda.sh": ("scaledjobs", "scaledobjects", "triggerauthentications"),
    "kubeflow.org": ("jaxjobs", "mpijobs", "pytorchjobs", "tfjobs", "xgboostjobs"),
    "leaderworkerset.x-k8s.io": ("leaderworkersets",),
    "monitoring.coreos.com": ("podmonitors", "servicemonitors"),
    "policy": ("poddisruptionbudgets",),
    "serving.kserve.io": (
        "inferencegraphs",
        "inferenceservices",
        "llminferenceservices",
        "servingruntimes",
        "trainedmodels",
    ),
    "trainer.kubeflow.org": ("trainingruntimes", "trainjobs"),
}
"""What `edit` may write and everybody may read."""
_SEEN: Final[_Resources] = {
    "": (
        "bindings",
        "events",
        "limitranges",
        "namespaces",
        "pods/log",
        "pods/status",
        "resourcequotas",
        "resourcequotas/status",
        "serviceaccounts",
    ),
    "argoproj.io": ("workflowtaskresults",),
    "discovery.k8s.io": ("endpointslices",),
    "events.k8s.io": ("events",),
    "kueue.x-k8s.io": ("localqueues", "workloads"),
    "metrics.k8s.io": ("pods",),
    "networking.k8s.io": ("ingresses", "networkpolicies"),
    RBAC: ("rolebindings", "roles"),
}
_INTERACTIVE: Final = ("pods/attach", "pods/exec", "pods/portforward", "pods/proxy", "services/proxy")
_ADMINISTERED: Final[_Resources] = {
    "": ("serviceaccounts",),
    "networking.k8s.io": ("ingresses", "networkpolicies"),
}
"""What `admin` may write beside that: what may come in, and whom pods are. Who is a member is said in the stack file
alone."""


def cluster_role(role: MemberRole) -> str:
    """Name of the ClusterRole of a member's role."""
    return f"slipway-team-{role}"


def group(team: str, role: MemberRole) -> str:
    """The Kubernetes group that an access entry puts a member in, and that a RoleBinding of the team names."""
    return f"slipway:{team}:{role}"


def cluster_role_manifest(role: MemberRole) -> dict[str, Any]:
    """A role with all rules of those below it."""
    rules = [*_rules(_EDITED, _READ), *_rules(_SEEN, _READ)]
    if role is not MemberRole.VIEW:
        rules += _rules(_EDITED, _WRITE)
        rules += [_rule("", ("secrets",), _KEEP), _rule("", _INTERACTIVE, ("create", "get"))]
        rules += [_rule("", ("pods/eviction",), ("create",))]
    if role is MemberRole.ADMIN:
        rules += _rules(_ADMINISTERED, _WRITE)
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": cluster_role(role)},
        "rules": rules,
    }


WORKFLOWS: Final = "slipway-team-workflows"
"""ClusterRole of what runs the steps of an Argo workflow."""


def workflow_role_manifest() -> dict[str, Any]:
    """What the container beside each step does: tell Argo what became of it (argo-workflows, "Workflow RBAC", v4)."""
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": WORKFLOWS},
        "rules": [_rule("argoproj.io", ("workflowtaskresults",), ("create", "patch"))],
    }


def workflow_binding(namespace: str, service_account: str) -> dict[str, Any]:
    """The same, for the service account of a namespace."""
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "RoleBinding",
        "metadata": {"name": WORKFLOWS, "namespace": namespace},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": WORKFLOWS},
        "subjects": [{"kind": "ServiceAccount", "name": service_account, "namespace": namespace}],
    }


def role_binding(namespace: str, team: str, role: MemberRole, *, bound: MemberRole | None = None) -> dict[str, Any]:
    """The binding of one of the team's groups in one of its namespaces.

    Args:
        namespace: The namespace.
        team: The team.
        role: The group's role.
        bound: What the group may do, where that is not what its role says: members of a retired team read only.
    """
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "RoleBinding",
        "metadata": {"name": cluster_role(role), "namespace": namespace},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": cluster_role(bound or role)},
        "subjects": [{"apiGroup": RBAC, "kind": "Group", "name": group(team, role)}],
    }


def roles_in_use(team: Team) -> tuple[MemberRole, ...]:
    """Roles that some member has."""
    used = {member.role for member in team.members.values()}
    return tuple(role for role in MemberRole if role in used)


def _rules(resources: _Resources, verbs: Sequence[str]) -> list[dict[str, Any]]:
    return [_rule(api, names, verbs) for api, names in sorted(resources.items())]


def _rule(api: str, resources: Sequence[str], verbs: Sequence[str]) -> dict[str, Any]:
    return {"apiGroups": [api], "resources": sorted(resources), "verbs": sorted(verbs)}


@dataclass(frozen=True, kw_only=True)
class TeamRolesArgs:
    """Inputs of `TeamRoles`.

    Attributes:
        cluster: The cluster.
    """

    cluster: ClusterOutputs


class TeamRoles(pulumi.ComponentResource):
    """The ClusterRoles of members and of workflows; a team binds them in its own namespaces."""

    PULUMI_TYPE: Final = "slipway:tenancy:TeamRoles"

    made: Mapping[MemberRole, pulumi.Resource]

    def __init__(self, name: str, args: TeamRolesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.PULUMI_TYPE, name, None, opts)
        child = pulumi.ResourceOptions(
            parent=self, depends_on=list(args.cluster.access), deleted_with=args.cluster.resource
        )
        self.made = {role: declare(f"{name}-{role}", cluster_role_manifest(role), child) for role in MemberRole}
        declare(f"{name}-workflows", workflow_role_manifest(), child)
        self.register_outputs({})
