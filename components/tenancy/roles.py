"""RBAC of team members in their namespaces: three ClusterRoles that all teams share.

They replace EKS's access policies, which cover no custom resources (EKS User Guide, "Review access policy permissions",
2026-11), although teams mostly work with those, and Kubernetes' own roles `edit` and `admin`, which allow removing the
namespace's network policies. No member can change the team's quotas, limits, labels or queue.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from components.base.kubernetes import Objects
from spec import strict_yaml
from spec.catalog.software import SOFTWARE
from spec.settings.teams import MemberRole, Team

RBAC: Final = "rbac.authorization.k8s.io"
_READ: Final = ("get", "list", "watch")
_WRITE: Final = ("create", "delete", "deletecollection", "patch", "update")
_KEEP: Final = ("create", "delete", "patch", "update")
"""Verbs for secrets: members can create and replace them; only pods read them."""

_Resources = Mapping[str, Sequence[str]]


def of_addons() -> dict[str, tuple[str, ...]]:
    """By API group: resources of add-ons, installed or not: a role may name resources that the cluster doesn't have."""
    found: dict[str, tuple[str, ...]] = {}
    for row in SOFTWARE.values():
        for api, names in row.team_kinds.items():
            group = api.partition("/")[0]
            found[group] = tuple(dict.fromkeys((*found.get(group, ()), *names)))
    return found


_TABLES: Final[Mapping[str, _Resources]] = strict_yaml.beside(__file__)
_EDITED: Final[_Resources] = {**of_addons(), **_TABLES["edited"]}
"""Resources that `edit` can write and every member can read."""
_SEEN: Final = _TABLES["seen"]
_INTERACTIVE: Final = ("pods/attach", "pods/exec", "pods/portforward", "pods/proxy", "services/proxy")
_ADMINISTERED: Final[_Resources] = {"": ("serviceaccounts",), "networking.k8s.io": ("ingresses", "networkpolicies")}
"""Resources that `admin` can write in addition: ingresses, network policies and service accounts. Membership is defined
only in the stack file."""


PREFIX: Final = "slipway-team"  # of the names of ClusterRoles


def cluster_role(role: MemberRole, prefix: str = PREFIX) -> str:
    """Name of the ClusterRole of a member's role."""
    return f"{prefix}-{role}"


MEMBERS: Final = "slipway:"  # prefix of the groups of members of all teams


def group(team: str, role: MemberRole) -> str:
    """The Kubernetes group of an access entry's members, and the subject of the team's RoleBindings."""
    return f"{MEMBERS}{team}:{role}"


def cluster_role_manifest(role: MemberRole, prefix: str = PREFIX) -> dict[str, Any]:
    """The ClusterRole of a member role, including the rules of the roles below it."""
    rules = [*_rules(_EDITED, _READ), *_rules(_SEEN, _READ)]
    if role is not MemberRole.VIEW:
        rules += _rules(_EDITED, _WRITE)
        rules += [_rule("", ("secrets",), _KEEP), _rule("", _INTERACTIVE, ("create", "get"))]
        rules += [_rule("", ("pods/eviction",), ("create",))]
        # `kubectl debug` adds a container to a pod; the rules judge it (kubernetes.io, "Debug Running Pods").
        rules += [_rule("", ("pods/ephemeralcontainers",), ("get", "patch", "update"))]
    if role is MemberRole.ADMIN:
        rules += _rules(_ADMINISTERED, _WRITE)
    return role_for(cluster_role(role, prefix), rules)


def role_for(name: str, rules: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A ClusterRole that is bound in namespaces."""
    return {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": list(rules)}


WORKFLOWS: Final = "slipway-team-workflows"  # ClusterRole for the steps of an Argo workflow


def workflow_role_manifest() -> dict[str, Any]:
    """Permissions of the executor container of each step, which reports its result (argo-workflows, "Workflow RBAC",
    v4)."""
    return role_for(WORKFLOWS, [_rule("argoproj.io", ("workflowtaskresults",), ("create", "patch"))])


def workflow_binding(namespace: str, service_account: str) -> dict[str, Any]:
    """Binding of that role to the service account of a namespace."""
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "RoleBinding",
        "metadata": {"name": WORKFLOWS, "namespace": namespace},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": WORKFLOWS},
        "subjects": [{"kind": "ServiceAccount", "name": service_account, "namespace": namespace}],
    }


PICKERS: Final = "slipway-team-endpoint-picker"  # ClusterRole for endpoint pickers of models
PICKER: Final = "endpoint-picker"  # Their service account in each namespace for serving. It has no permissions in AWS.


def picker_role_manifest() -> dict[str, Any]:
    """Permission to find pods (kubernetes-sigs/gateway-api-inference-extension v1.3.1,
    config/charts/inferencepool/templates/rbac.yaml; without a pool a picker reads pods alone)."""
    return role_for(PICKERS, [_rule("", ("pods",), _READ)])


def picker_access(namespace: str) -> dict[str, dict[str, Any]]:
    """The account of pickers in a namespace and its binding, by the suffix of their logical name."""
    return {
        "picker": {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": PICKER, "namespace": namespace},
            # Only the pods of a picker ask for its token.
            "automountServiceAccountToken": False,
        },
        "picker-binding": {
            "apiVersion": f"{RBAC}/v1",
            "kind": "RoleBinding",
            "metadata": {"name": PICKERS, "namespace": namespace},
            "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": PICKERS},
            "subjects": [{"kind": "ServiceAccount", "name": PICKER, "namespace": namespace}],
        },
    }


def role_binding(
    namespace: str, team: str, role: MemberRole, *, bound: MemberRole | None = None, prefix: str = PREFIX
) -> dict[str, Any]:
    """The binding of one of the team's groups in one of its namespaces.

    Args:
        namespace: The namespace.
        team: The team.
        role: The group's role.
        bound: Role to bind instead of the group's own role: members of a retired team can only read.
        prefix: Of the names of ClusterRoles.
    """
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "RoleBinding",
        "metadata": {"name": cluster_role(role, prefix), "namespace": namespace},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": cluster_role(bound or role, prefix)},
        "subjects": [{"apiGroup": RBAC, "kind": "Group", "name": group(team, role)}],
    }


def roles_in_use(team: Team) -> tuple[MemberRole, ...]:
    """Roles that at least one member has."""
    used = {member.role for member in team.members.values()}
    return tuple(role for role in MemberRole if role in used)


def created() -> tuple[tuple[str, str], ...]:
    """API group and resource of everything that some member can create, from the rules of the roles, sorted."""
    return tuple(
        sorted(
            {
                (api, resource)
                for role in MemberRole
                for rule in cluster_role_manifest(role)["rules"]
                if "create" in rule["verbs"]
                for api in rule["apiGroups"]
                for resource in rule["resources"]
                if "/" not in resource
            }
        )
    )


def _rules(resources: _Resources, verbs: Sequence[str]) -> list[dict[str, Any]]:
    return [_rule(api, names, verbs) for api, names in sorted(resources.items())]


def _rule(api: str, resources: Sequence[str], verbs: Sequence[str]) -> dict[str, Any]:
    return {"apiGroups": [api], "resources": sorted(resources), "verbs": sorted(verbs)}


class TeamRoles(Objects):
    """The ClusterRoles of members and of workflows; a team binds them in its own namespaces."""

    PULUMI_TYPE = "slipway:tenancy:TeamRoles"


def roles() -> dict[str, dict[str, Any]]:
    """Those ClusterRoles, by the suffix of their logical name."""
    return {**{str(role): cluster_role_manifest(role) for role in MemberRole}, "workflows": workflow_role_manifest()}
